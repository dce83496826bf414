"""Covering arrays: rows in which every two options of different parameters stand together at least once.

A library would do, but those there are take minutes for ours (docs/how-it-works.md has the measurements), and none
makes rows that say little. A row that says something of every input is refused by the first check it meets, so that
of its pairs nothing is seen. Here a row says at most so many things and leaves the rest out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


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
        self._masks = [
            ((1 << factor.options) - 1) << first for first, factor in zip(self._firsts, factors, strict=True)
        ]
        every = (1 << len(self._of)) - 1
        silent = sum(1 << first for first, factor in zip(self._firsts, factors, strict=True) if factor.silent)
        self._spoken = every & ~silent
        self._pending = [every & ~self._masks[number] for number in self._of]
        self._left = [pending.bit_count() for pending in self._pending]

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
        row = list(self._firsts)
        open_loud = {number for number, factor in enumerate(self._factors) if not factor.silent}
        # What nobody says is in the row anyway.
        allowed, gains = self._spoken, _Counts()
        said, best = 0, start
        while True:
            number = self._of[best]
            row[number] = best
            open_loud.discard(number)
            allowed &= ~self._masks[number]
            if self._factors[number].silent and best != self._firsts[number]:
                said += 1
                if said == self._most_said:
                    break
            gains.add(self._pending[best])
            most = gains.most(allowed)
            if not most:
                break
            best = (most & -most).bit_length() - 1
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


class _Counts:
    """How often each number was counted, as the binary digits of all counts: a mask for each digit, lowest first."""

    def __init__(self) -> None:
        self._digits: list[int] = []

    def add(self, mask: int) -> None:
        """Count each number in ``mask`` once more."""
        for place, digit in enumerate(self._digits):
            self._digits[place] = digit ^ mask
            mask &= digit
        if mask:
            self._digits.append(mask)

    def most(self, allowed: int) -> int:
        """Return the mask of those ``allowed`` that were counted most often, 0 where none was at all."""
        found = 0
        for digit in reversed(self._digits):
            if allowed & digit:
                allowed = found = allowed & digit
        return found


def first_options(factors: Sequence[Factor]) -> list[int]:
    """Return the number of each factor's first option, all options being numbered through."""
    firsts, total = [], 0
    for factor in factors:
        firsts.append(total)
        total += factor.options
    return firsts
