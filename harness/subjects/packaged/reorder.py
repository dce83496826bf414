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

import msgspec

from harness.subjects.child.serve.operations import Exchanged, ListedReads
from harness.subjects.child.serve.values import encode, marked
from harness.world.case import BrokenSetUp, Case, Outcome

PROMISE = ("steps", "recorded_reads", "exchanged")


class Reorder:
    """The cases that the parent sent, each with its result in the usual order."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._cases: list[Case] = []
        self._usual: list[bytes] = []

    def reads(self, cases: Sequence[Case]) -> ListedReads:
        """Resolve the cases and keep them; return the steps, all that each read, and which ran for each case."""
        if lacks := [name for name in PROMISE if not hasattr(self._module, name)]:
            return ListedReads(lacks=lacks)
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
        return ListedReads([], [msgspec.to_builtins(step) for step in listed], [sorted(names) for names in seen], ran)

    def exchange(self, first: str, second: str, numbers: Sequence[int], seconds: float) -> Exchanged:
        """Exchange two steps and resolve the kept cases ``numbers`` again; stop after ``seconds``.

        Returns which of them came out otherwise and how many were run; ``error`` where the two cannot be exchanged.
        """
        try:
            resolve = self._module.exchanged(first, second)
        except ValueError as error:
            return Exchanged(error=str(error))
        changed, run, end = [], 0, time.monotonic() + seconds
        for number in numbers:
            if time.monotonic() > end:
                break
            run += 1
            if _result(resolve, self._cases[number]) != self._usual[number]:
                changed.append(number)
        return Exchanged(changed, run)


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
