"""Counts which pairs and triples of options the cases combined: all pairs, and a fixed sample of the triples.

Each job keeps a list of the tuples that none of its cases had yet. For each chunk it reports which of them the chunk
had, and takes these off its list, so that the work gets less with every chunk. The union of all reports is the same
whichever job ran which chunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import msgspec

from harness.engine.result.events import Interactions, Space, Tuples
from harness.generate.chance.draw import SeededDraw
from harness.generate.chance.streams import Stream
from harness.generate.covering.arrays import first_options
from harness.generate.covering.columns import CaseColumns, CaseTable
from harness.generate.covering.parameters import Parameter
from harness.generate.values.inputs import bits
from harness.world.case import Case

# With this number the covered share of all triples is known to 1 percentage point (at 95 % confidence). A real
# campaign has about 15 million triples; to count them all would make the gate several times slower.
SAMPLED: Final = 10_000

Triple = tuple[int, int, int]


def space_of(parameters: Sequence[Parameter]) -> Space:
    """Return how many pairs and triples of options the parameters have, and how many triples are counted."""
    # How many ways there are to choose one option each of none, one, two and three parameters.
    ways = [1, 0, 0, 0]
    for parameter in parameters:
        for number in (3, 2, 1):
            ways[number] += ways[number - 1] * len(parameter.options)
    return Space(parameters=len(parameters), pairs=ways[2], triples=ways[3], sampled=min(ways[3], SAMPLED))


class Tally:
    """The tuples that none of one job's cases had yet."""

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._columns = CaseColumns(parameters)
        self._pairs = _Pairs(parameters)
        self._triples: dict[int, list[Triple]] = {}
        for number, (first, second, third) in enumerate(_triples(parameters)):
            self._triples.setdefault(first, []).append((number, second, third))

    def add(self, cases: Sequence[Case]) -> Tuples:
        """Return the numbers of the tuples that the cases of a chunk have, and no earlier case of this job had."""
        table = self._columns.of(cases)
        return Tuples(pairs=self._pairs.take(table), triples=_taken(self._triples, table.columns))


class _Pairs:
    """The pairs that no case had yet: for each option, a bit mask of the options that it was not combined with.

    A pair is listed under the option that fewer cases have. For that option there are few cases to go through.
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        of = _owners(parameters)
        self._pending: dict[int, int] = {}
        # The number of an option's first pair, and the options that its pairs are with.
        self._numbers: dict[int, tuple[int, int]] = {}
        every, total = (1 << len(of)) - 1, 0
        firsts = first_options([parameter.factor for parameter in parameters])
        for option in _rare_first(parameters):
            parameter = parameters[of[option]]
            every &= ~(1 << option)
            rest = every & ~(((1 << len(parameter.options)) - 1) << firsts[of[option]])
            if rest:
                self._pending[option] = rest
                self._numbers[option] = total, rest
                total += rest.bit_count()

    def take(self, table: CaseTable) -> list[int]:
        """Take out the pairs that a case of the chunk has, and return their numbers."""
        taken: list[int] = []
        rows, columns = table
        for option, pending in list(self._pending.items()):
            cases = columns[option]
            if not cases:
                continue
            # Both ways find the same. The first takes a step for each case with the option, the second for each
            # missing partner. At the beginning nearly all partners are missing, later only a few, so that neither
            # way alone is fast throughout.
            if cases.bit_count() < pending.bit_count():
                met = 0
                while cases:
                    low = cases & -cases
                    met |= rows[low.bit_length() - 1]
                    cases ^= low
                met &= pending
            else:
                met = 0
                for other in bits(pending):
                    if cases & columns[other]:
                        met |= 1 << other
            if met:
                first, every = self._numbers[option]
                taken += [first + (every & ((1 << other) - 1)).bit_count() for other in bits(met)]
                if pending == met:
                    del self._pending[option]
                else:
                    self._pending[option] = pending ^ met
        return taken


class SeenState(msgspec.Struct, frozen=True):
    """For each pair, and for each triple of the sample, one byte: 1 if a case had it."""

    pairs: bytes
    triples: bytes


class Seen:
    """The tuples that any job's cases had."""

    def __init__(self, space: Space, state: SeenState | None = None) -> None:
        self._space = space
        self._pairs = bytearray(space.pairs if state is None else state.pairs)
        self._triples = bytearray(space.sampled if state is None else state.triples)

    def add(self, fresh: Tuples) -> None:
        """Add the tuples of one chunk."""
        for number in fresh.pairs:
            self._pairs[number] = 1
        for number in fresh.triples:
            self._triples[number] = 1

    def join(self, state: SeenState) -> None:
        """Add the tuples of another shard; raises ValueError if they belong to another space."""
        for mine, theirs in ((self._pairs, state.pairs), (self._triples, state.triples)):
            mine[:] = bytes(one | other for one, other in zip(mine, theirs, strict=True))

    def state(self) -> SeenState:
        """Return the state from which another `Seen` can go on."""
        return SeenState(bytes(self._pairs), bytes(self._triples))

    def total(self) -> Interactions:
        """Return how many pairs and triples a case had."""
        return Interactions(space=self._space, pairs=sum(self._pairs), triples=sum(self._triples))


def _taken(pending: dict[int, list[Triple]], columns: Sequence[int]) -> list[int]:
    """Take the triples out of ``pending`` that a case has, and return their numbers.

    ``pending`` lists each triple under its first option. ``columns`` has, for each option, a bit mask of the cases.
    """
    taken: list[int] = []
    for first, rest in list(pending.items()):
        cases = columns[first]
        if not cases:
            continue
        fresh = [number for number, second, third in rest if cases & columns[second] & columns[third]]
        if fresh:
            taken += fresh
            gone = frozenset(fresh)
            left = [entry for entry in rest if entry[0] not in gone]
            if left:
                pending[first] = left
            else:
                del pending[first]
    return taken


def _triples(parameters: Sequence[Parameter]) -> Iterator[Triple]:
    """Yield the triples to count: all if they are few, else a sample that is the same in every run."""
    order, of = _rare_first(parameters), _owners(parameters)
    space = space_of(parameters)
    if space.triples == space.sampled:
        yield from (some for some in combinations(order, 3) if len({of[option] for option in some}) == 3)
        return
    below, chosen = SeededDraw(0, Stream.TRIPLES).below, set[Triple]()
    while len(chosen) < space.sampled:
        first, second, third = sorted((below(len(order)), below(len(order)), below(len(order))))
        a, b, c = order[first], order[second], order[third]
        if of[a] != of[b] and of[b] != of[c] and of[a] != of[c] and (a, b, c) not in chosen:
            chosen.add((a, b, c))
            yield a, b, c


def _owners(parameters: Sequence[Parameter]) -> list[int]:
    """Return the number of the parameter that each option belongs to."""
    return [number for number, parameter in enumerate(parameters) for _ in parameter.options]


def _rare_first(parameters: Sequence[Parameter]) -> list[int]:
    """Return all options; those that leave an input out come last, because most cases have them."""
    firsts = first_options([parameter.factor for parameter in parameters])
    usual = {first for first, parameter in zip(firsts, parameters, strict=True) if parameter.silent}
    total = sum(len(parameter.options) for parameter in parameters)
    return [*(option for option in range(total) if option not in usual), *sorted(usual)]
