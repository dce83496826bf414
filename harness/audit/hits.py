"""Where the blocks of an instrumented package say that they run, and which ran in each case."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, Final

import msgspec

from harness.world.case import Case

_HITS: Final[set[int]] = set()

hit: Final = _HITS.add
"""Called with its number by each block that runs."""


class Ran(msgspec.Struct, frozen=True):
    """Which blocks ran: those that run for many cases at once, and those of each case.

    The latter as sets, each once, and for each case the number of its set.
    """

    always: list[int]
    sets: list[list[int]]
    cases: list[int]


class Record:
    """Gathers which blocks run in each case.

    All cases are run twice, in the same order. What runs at import, or for one case the first time alone, fills what
    later cases use, such as a cache: it runs for many cases at once.
    """

    def __init__(self) -> None:
        """Begin where the import ends."""
        self._always = set(_HITS)
        self._numbers: dict[frozenset[int], int] = {}
        self._sets: list[frozenset[int]] = []
        self._cases = array("I")

    def first(self, resolve: Callable[[Case], Any]) -> Callable[[Case], Any]:
        """Return ``resolve`` for the first time that the cases are run."""

        def resolving(case: Case) -> Any:
            _HITS.clear()
            try:
                return resolve(case)
            finally:
                ran = frozenset(_HITS)
                if ran not in self._numbers:
                    self._numbers[ran] = len(self._sets)
                    self._sets.append(ran)
                self._cases.append(self._numbers[ran])

        return resolving

    def second(self, resolve: Callable[[Case], Any]) -> Callable[[Case], Any]:
        """Return ``resolve`` for the second time."""
        before = iter(self._cases)

        def resolving(case: Case) -> Any:
            _HITS.clear()
            try:
                return resolve(case)
            finally:
                self._always |= self._sets[next(before)] ^ _HITS

        return resolving

    def ran(self) -> Ran:
        """Return what was gathered."""
        return Ran(sorted(self._always), [sorted(some) for some in self._sets], self._cases.tolist())
