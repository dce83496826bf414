"""Covering arrays: rows in which every two options of different parameters stand together at least once.

A library would do, but those there are take minutes for ours (docs/how-it-works.md has the measurements), and none
makes rows that say little. A row that says something of every input is refused by the first check it meets, so that
of its pairs nothing is seen. Here a row says at most so many things and leaves the rest out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

# Below the gain of any option that can be chosen.
_NEVER: Final = -(10**9)


class Factor(NamedTuple):
    """A parameter of an array: how many options it has; with ``silent``, option 0 is to say nothing of it."""

    options: int
    silent: bool


def covering_rows(factors: Sequence[Factor], most_said: int) -> list[tuple[int, ...]]:
    """Return rows that cover every pair of options, the same for the same factors; a row has an option per factor.

    In a row at most ``most_said`` (two or more) of the factors that can be silent are not.
    """
    if len(factors) < 2:
        return [(option,) for factor in factors for option in range(factor.options)]
    return _Greedy(factors, max(most_said, 2)).rows()


class _Greedy:
    """Rows one by one, each by the option that brings most pairs that no row has yet, until it has its fill.

    Options are numbered through all factors; what stands with an option is a bit mask over these numbers.
    """

    def __init__(self, factors: Sequence[Factor], most_said: int) -> None:
        self._most_said = most_said
        self._firsts = first_options(factors)
        self._factors = factors
        self._of = [number for number, factor in enumerate(factors) for _ in range(factor.options)]
        self._silent = {first for first, factor in zip(self._firsts, factors, strict=True) if factor.silent}
        every = (1 << len(self._of)) - 1
        self._pending = [every & ~self._mask_of(number) for number in self._of]
        self._left = [pending.bit_count() for pending in self._pending]

    def _mask_of(self, number: int) -> int:
        return ((1 << self._factors[number].options) - 1) << self._firsts[number]

    def rows(self) -> list[tuple[int, ...]]:
        """Return the rows."""
        made: list[tuple[int, ...]] = []
        while (most := max(self._left)) > 0:
            row = self._row(self._left.index(most), len(made))
            mask = sum(1 << option for option in row)
            for option in row:
                if self._left[option]:
                    self._pending[option] &= ~mask
                    self._left[option] = self._pending[option].bit_count()
            made.append(tuple(option - first for option, first in zip(row, self._firsts, strict=True)))
        return made

    def _row(self, start: int, turn: int) -> list[int]:
        """Return a row with the option ``start``; where nothing brings a pair, loud factors take turns."""
        gains = [0] * len(self._of)
        for option in self._silent:
            # What nobody says is in the row anyway.
            gains[option] = _NEVER
        row = list(self._firsts)
        open_loud = {number for number, factor in enumerate(self._factors) if not factor.silent}
        said, best = 0, start
        while True:
            number = self._of[best]
            row[number] = best
            open_loud.discard(number)
            first = self._firsts[number]
            gains[first : first + self._factors[number].options] = [_NEVER] * self._factors[number].options
            if self._factors[number].silent and best != first:
                said += 1
                if said == self._most_said:
                    break
            rest = self._pending[best]
            while rest:
                low = rest & -rest
                gains[low.bit_length() - 1] += 1
                rest ^= low
            gain = max(gains)
            if gain <= 0:
                break
            best = gains.index(gain)
        for number in sorted(open_loud):
            row[number] = self._loud(number, row, open_loud, turn)
            open_loud.discard(number)
        return row

    def _loud(self, number: int, row: Sequence[int], skipped: set[int], turn: int) -> int:
        """Return the option of a factor that must say something: the one that brings most pairs, else the next."""
        mask = sum(1 << option for other, option in enumerate(row) if other not in skipped)
        first, count = self._firsts[number], self._factors[number].options
        gains = [(self._pending[option] & mask).bit_count() for option in range(first, first + count)]
        most = max(gains)
        return first + (gains.index(most) if most else turn % count)


def first_options(factors: Sequence[Factor]) -> list[int]:
    """Return the number of each factor's first option, all options being numbered through."""
    firsts, total = [], 0
    for factor in factors:
        firsts.append(total)
        total += factor.options
    return firsts
