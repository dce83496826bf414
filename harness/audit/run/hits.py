"""Where the blocks of an instrumented package say that they run, and which ran in each case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from harness.world.case import Case

Blocks = frozenset[int]
"""Numbers of blocks."""

_HITS: Final[set[int]] = set()

hit: Final = _HITS.add
"""Called with its number by each block that runs."""


def watched(resolve: Callable[[Case], Any], told: Callable[[Blocks], None]) -> Callable[[Case], Any]:
    """Return ``resolve``, which passes the numbers of the blocks that a case ran to ``told``."""

    def resolving(case: Case) -> Any:
        _HITS.clear()
        try:
            return resolve(case)
        finally:
            told(frozenset(_HITS))

    return resolving


class BlocksRan(msgspec.Struct, frozen=True):
    """Which blocks ran: those that run for many cases at once, and those of each case.

    The latter as sets, each once, and for each case the number of its set.
    """

    always: list[int]
    sets: list[list[int]]
    cases: list[int]


class BlockRecord:
    """Gathers which blocks run in each case.

    All cases are run twice, in the same order. What runs at import, or for one case the first time alone, fills what
    later cases use, such as a cache: it runs for many cases at once.
    """

    def __init__(self) -> None:
        """Begin where the import ends."""
        self._always = set(_HITS)
        self._known: dict[Blocks, Blocks] = {}
        self._cases: list[Blocks] = []
        self._before = iter(self._cases)

    def first(self, ran: Blocks) -> None:
        """Take what ran in the next case."""
        # Most cases run what another one ran, which is kept once.
        self._cases.append(self._known.setdefault(ran, ran))

    def again(self, ran: Blocks) -> None:
        """Take what ran in the next case of the second time."""
        self._always |= next(self._before) ^ ran

    def ran(self) -> BlocksRan:
        """Return what was gathered."""
        numbers = {some: number for number, some in enumerate(self._known)}
        return BlocksRan(
            sorted(self._always), [sorted(some) for some in numbers], [numbers[some] for some in self._cases]
        )
