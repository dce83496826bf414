"""Covering arrays: rows in which every two options of different factors occur together at least once.

The array is made here because no library is fast enough. For the 114 inputs of legacy against declarative, allpairspy
2.5.1 takes 267 s, and covertable 3.2.0 takes 44 s for 20 inputs of such sizes. On the same machine this module takes
0.1 s for all (docs/how-it-works.md). The difference is the bit masks: what a candidate would add to a row is counted
for all options at once, with a few operations on integers that have a bit for each option (462).

Nor does a library make the rows that we need. A row that sets every input is refused by the first check that it
meets, so that none of its pairs is tried. A row here sets only a few inputs and leaves the others out, which takes
more rows than a minimal array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Factor(NamedTuple):
    """An input of an array.

    ``options`` is the number of its options. With ``silent``, option 0 is to leave the input out.
    """

    options: int
    silent: bool


def covering_rows(factors: Sequence[Factor], most_set: int) -> list[tuple[int, ...]]:
    """Return rows that cover every pair of options; a row has one option for each factor.

    A row sets at most ``most_set`` (two or more) of the factors that can be left out. The same factors always give
    the same rows.
    """
    if len(factors) < 2:
        return [(option,) for factor in factors for option in range(factor.options)]
    return _Greedy(factors, max(most_set, 2)).rows()


class _Greedy:
    """Makes one row after the other; each time, a row gets the option that adds the most pairs which no row has yet.

    Options are numbered through all factors, so that a set of options is a bit mask. For each option, ``_pending``
    has the mask of the options with which it has not occurred yet, and ``_left`` how many these are.
    """

    def __init__(self, factors: Sequence[Factor], most_set: int) -> None:
        self._most_set = most_set
        self._firsts = first_options(factors)
        self._factors = factors
        # The factor of each option.
        self._of = [number for number, factor in enumerate(factors) for _ in range(factor.options)]
        self._masks = [
            ((1 << factor.options) - 1) << first for first, factor in zip(self._firsts, factors, strict=True)
        ]
        every = (1 << len(self._of)) - 1
        silent = sum(1 << first for first, factor in zip(self._firsts, factors, strict=True) if factor.silent)
        # The options that set an input, instead of leaving it out.
        self._set = every & ~silent
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
        """Return a row with the option ``start``; ``turn`` is the number of the row.

        The row is full when it sets as many inputs as it may, or when no further option adds a pair.
        """
        row = list(self._firsts)
        # The factors that cannot be left out and have no option chosen yet.
        open_loud = {number for number, factor in enumerate(self._factors) if not factor.silent}
        # A row begins with every input left out, so only options that set one are candidates.
        candidates, gains = self._set, _GainCounts()
        inputs_set, best = 0, start
        while True:
            number = self._of[best]
            row[number] = best
            open_loud.discard(number)
            candidates &= ~self._masks[number]
            if self._factors[number].silent and best != self._firsts[number]:
                inputs_set += 1
                if inputs_set == self._most_set:
                    break
            gains.add(self._pending[best])
            most = gains.most(candidates)
            if not most:
                break
            # Several options may be best; the lowest is taken. Any rule would do that is the same on every machine.
            best = (most & -most).bit_length() - 1
        for number in sorted(open_loud):
            row[number] = self._loud(number, row, open_loud, turn)
            open_loud.discard(number)
        return row

    def _loud(self, number: int, row: Sequence[int], skipped: set[int], turn: int) -> int:
        """Return the option of a factor that cannot be left out: the one that adds the most pairs to the row.

        If none adds a pair, the options take turns from row to row. ``skipped`` are the factors whose option in
        ``row`` is not chosen yet.
        """
        mask = sum(1 << option for other, option in enumerate(row) if other not in skipped)
        first, count = self._firsts[number], self._factors[number].options
        gains = [(self._pending[option] & mask).bit_count() for option in range(first, first + count)]
        most = max(gains)
        return first + (gains.index(most) if most else turn % count)


class _GainCounts:
    """Counts for every option at once how many pairs it would add to a row.

    A counter for each option would need a loop over all options for every option that a row gets. Here the counters
    are stored by binary digit: the mask ``_digits[0]`` has the lowest digit of every counter, ``_digits[1]`` the
    next, and so on. Adding one to many counters is then a ripple-carry addition of whole masks.
    """

    def __init__(self) -> None:
        self._digits: list[int] = []

    def add(self, mask: int) -> None:
        """Add one to the counter of each option in ``mask``."""
        for place, digit in enumerate(self._digits):
            self._digits[place] = digit ^ mask
            mask &= digit
        if mask:
            self._digits.append(mask)

    def most(self, candidates: int) -> int:
        """Return the mask of the ``candidates`` with the highest counter, 0 if all counters are zero."""
        found = 0
        # From the highest digit down: if any candidates have the digit, only these can have the highest counter.
        for digit in reversed(self._digits):
            if candidates & digit:
                candidates = found = candidates & digit
        return found


def first_options(factors: Sequence[Factor]) -> list[int]:
    """Return the number of each factor's first option, where options are numbered through all factors."""
    firsts, total = [], 0
    for factor in factors:
        firsts.append(total)
        total += factor.options
    return firsts
