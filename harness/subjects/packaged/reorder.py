"""What steps read, and what becomes of cases when two steps change places: for packages whose steps declare.

Such a package has, at its top,

- ``steps()``, what runs, in order (`harness.world.chain.PlacedStep`);
- ``recorded_reads(case)``, what each step that ran read, in order: ``source``, ``fields``, ``environment``;
- ``exchanged(first, second)``, its ``resolve`` with two steps in each other's place; ValueError where they cannot be.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import msgspec

from harness.subjects.child.serve.wire import encode, marked
from harness.world.case import BrokenSetUp, Case, Outcome

PROMISE = ("steps", "recorded_reads", "exchanged")


class Reorder:
    """The cases that the parent sent, each with its result in the usual order."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._cases: list[Case] = []
        self._usual: list[bytes] = []

    def lacks(self) -> list[str]:
        """Return what the package would have to have and does not."""
        return [name for name in PROMISE if not hasattr(self._module, name)]

    def reads(self, cases: Sequence[Case]) -> dict[str, Any]:
        """Resolve the cases and keep them; return the steps, all that each read, and which ran for each case."""
        self._cases = list(cases)
        self._usual = [_result(self._module.resolve, case) for case in cases]
        listed = self._module.steps()
        numbers = {step.source: number for number, step in enumerate(listed)}
        seen: list[set[str]] = [set() for _ in listed]
        ran: list[list[int]] = []
        for case in cases:
            ran.append([])
            for read in self._module.recorded_reads(case):
                number = numbers[read.source]
                seen[number] |= read.fields | read.environment
                ran[-1].append(number)
        return {
            "steps": [msgspec.to_builtins(step) for step in listed],
            "reads": [sorted(names) for names in seen],
            "ran": ran,
        }

    def exchange(self, first: str, second: str, numbers: Sequence[int], seconds: float) -> dict[str, Any]:
        """Exchange two steps and resolve the kept cases ``numbers`` again; stop after ``seconds``.

        Returns which of them came out otherwise and how many were run; ``error`` where the two cannot be exchanged.
        """
        try:
            resolve = self._module.exchanged(first, second)
        except ValueError as error:
            return {"changed": [], "run": 0, "error": str(error)}
        changed, run, end = [], 0, time.monotonic() + seconds
        for number in numbers:
            if time.monotonic() > end:
                break
            run += 1
            if _result(resolve, self._cases[number]) != self._usual[number]:
                changed.append(number)
        return {"changed": changed, "run": run, "error": ""}


def _result(resolve: Callable[[Case], Outcome], case: Case) -> bytes:
    """Return what counts of a case's outcome, as for a gate: fields and environment, or a refusal's type and text."""
    try:
        outcome = resolve(case)
    except BrokenSetUp:
        raise
    except Exception as error:
        # An order that breaks a step is one more result.
        return encode(["broken", type(error).__name__, str(error)])
    if outcome.error is not None:
        return encode([outcome.error.type, outcome.error.message])
    return encode([{name: marked(value) for name, value in (outcome.fields or {}).items()}, outcome.env])
