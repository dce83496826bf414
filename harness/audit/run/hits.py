"""Records which blocks of an instrumented package run in each case; each block calls `hit` with its number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from harness.world.case import Case

BlockSet = frozenset[int]
"""Numbers of blocks."""

_HITS: Final[set[int]] = set()

hit: Final = _HITS.add
"""Record a block by its number. A package calls it for every block that runs, so it is the set's own, fast method."""


def watched(resolve: Callable[[Case], Any], record: Callable[[BlockSet], None]) -> Callable[[Case], Any]:
    """Return a function that does what ``resolve`` does, and then passes the blocks that ran to ``record``."""

    def resolving(case: Case) -> Any:
        _HITS.clear()
        try:
            return resolve(case)
        finally:
            record(frozenset(_HITS))

    return resolving


class BlocksRan(msgspec.Struct, frozen=True):
    """Which blocks the cases run.

    ``always`` has the blocks whose work may serve several cases (see `BlockRecord`). ``sets`` has each set of blocks
    that a case ran; many cases run the same set. ``cases`` has for each case the index of its set in ``sets``.
    """

    always: list[int]
    sets: list[list[int]]
    cases: list[int]


class BlockRecord:
    """Collects which blocks run in each case.

    All cases are run twice, in the same order. A block that runs at import, or in only one of the two runs of a case,
    is taken to fill a cache or table that later cases use: a fault in it may show in any case.
    """

    def __init__(self) -> None:
        """Begin when the package has been imported: blocks that have run by now ran at import."""
        self._always = set(_HITS)
        self._known: dict[BlockSet, BlockSet] = {}
        self._cases: list[BlockSet] = []
        self._before = iter(self._cases)

    def first(self, ran: BlockSet) -> None:
        """Record the blocks of the next case in the first run."""
        # Cases with the same blocks share one set.
        self._cases.append(self._known.setdefault(ran, ran))

    def again(self, ran: BlockSet) -> None:
        """Record the blocks of the next case in the second run."""
        self._always |= next(self._before) ^ ran

    def ran(self) -> BlocksRan:
        """Return what was recorded."""
        numbers = {some: number for number, some in enumerate(self._known)}
        return BlocksRan(
            sorted(self._always), [sorted(some) for some in numbers], [numbers[some] for some in self._cases]
        )
