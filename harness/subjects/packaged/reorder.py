"""Finds what steps read, and how outcomes change if two steps change places, in packages whose steps declare.

Such a package has at its top level:

- ``steps()``: the steps, in order (`harness.world.chain.PlacedStep`).
- ``recorded_reads(case)``: for each step that ran, in order, its ``source`` and the ``fields`` and variables
  (``environment``) that it read.
- ``exchanged(first, second)``: returns its ``resolve`` with the two steps in each other's place. Raises ValueError if
  they cannot be exchanged.
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
    """The cases that the parent sent, each with its result in the usual order of steps."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._cases: list[Case] = []
        self._usual: list[bytes] = []

    def reads(self, cases: Sequence[Case]) -> ListedReads:
        """Resolve and keep the cases; return the steps, what each read in any case, and which ran in each case."""
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

        Returns which of them had another result, and how many were resolved; or the ``error`` if the two steps cannot
        be exchanged.
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
    """Return what a gate compares of a case's outcome: fields and environment, or a refusal's type and message."""
    try:
        outcome = resolve(case)
    except BrokenSetUp:
        raise
    except Exception as error:
        # If the order breaks a step, that is a result like others, and differs from the usual one.
        return encode(["broken", type(error).__name__, str(error)])
    if outcome.error is not None:
        return encode([outcome.error.type, outcome.error.message])
    return encode([{name: marked(value) for name, value in (outcome.fields or {}).items()}, outcome.env])
