"""What aimed cases are drawn for, and in which order: meet a place, miss one of its demands, try a list's member."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final, NamedTuple

from harness.generate.aiming.aim import Aim, Alternative, Demand
from harness.generate.chance.draw import SeededDraw, shuffled
from harness.generate.chance.streams import Stream
from harness.generate.values.inputs import MACHINE, Mask, Slot, bits

# A list of so many members is tried member by member.
_MOST_MEMBERS: Final = 12
# A demand is missed, and a member of a list tried, at so many places.
_TURNS: Final = 8
# Of the alternatives of a clause, so many are missed demand by demand.
_MOST_ALTERNATIVES: Final = 4
# Of a hundred aimed draws, so many aim at a refusal (besides those that come to one by the way).
REFUSED: Final = 30


class Miss(NamedTuple):
    """The one demand of an aim that a case breaks: the nearest miss is what finds a changed guard.

    A demand on an input (``slot``), the relation of two inputs (``pair``), every alternative of a clause
    (``clause``), every alternative but one (``clause`` and ``only``), which finds an alternative that was dropped, or
    one demand of an alternative whose others are met (``demand``, too; behind its demands come its relations). The
    missed input is ``option`` then, where one is given, and anything else where not.
    """

    slot: Slot | None = None
    pair: int | None = None
    clause: int | None = None
    only: int | None = None
    demand: int | None = None
    option: Mask | None = None


class Goal(NamedTuple):
    """What one aimed case is drawn for.

    The aims of a place, any of which will do, or a miss of one of them; with ``fixed`` an input's mask that leaves
    one of the options that the aim asks for, so that each member of a list has its turn.
    """

    aims: Sequence[Aim]
    miss: Miss | None = None
    fixed: Demand | None = None


class Schedules(NamedTuple):
    """Two orders of goals: those that should resolve, and those that should end in a refusal."""

    resolved: Sequence[Goal]
    refused: Sequence[Goal]

    def goal(self, number: int) -> Goal:
        """Return the goal of the aimed case ``number``: of each hundred, so many are of the second order."""
        hundreds, rest = divmod(number, 100)
        if rest < REFUSED:
            return self.refused[(hundreds * REFUSED + rest) % len(self.refused)]
        return self.resolved[(hundreds * (100 - REFUSED) + rest - REFUSED) % len(self.resolved)]


def goals_of(places: Sequence[Sequence[Aim]], beside: Callable[[Slot, Mask], Mask]) -> list[Goal]:
    """Return the goals of some places: each to be met, each demand missed, each member of a list tried.

    A demand that many places share, because they lie behind it, has its turn at a few of them. One for numbers is
    missed by each of those ``beside`` them, too, which tells a bound from its neighbours.
    """
    goals = []
    turns: Counter[Hashable] = Counter()
    # A clause is long, and stands in many keys: its number takes its place.
    clauses: dict[tuple[Alternative, ...], int] = {}
    # Shuffled, so that a demand's turns are not all at the first places behind it.
    for ways in shuffled(places, SeededDraw(0, Stream.DEMAND_TURNS)):
        goals.append(Goal(ways))
        # Ways differ in how they come to the place; the demands of the place itself are in all of them.
        seen: set[Hashable] = set()
        for aim in ways:
            numbers = [clauses.setdefault(tuple(clause), len(clauses)) for clause in aim.choices]
            asked: list[tuple[Hashable, Goal]] = [
                (_key(aim, miss, numbers), Goal([aim], miss)) for miss in _misses(aim, beside)
            ]
            asked += [((fixed, listed), Goal([aim], None, fixed)) for fixed, listed in _members(aim, numbers)]
            for key, goal in asked:
                if key not in seen and turns[key] < _TURNS:
                    seen.add(key)
                    turns[key] += 1
                    goals.append(goal)
    return goals


def _misses(aim: Aim, beside: Callable[[Slot, Mask], Mask]) -> Iterator[Miss]:
    for slot, mask in aim.left.items():
        yield Miss(slot=slot)
        yield from (Miss(slot=slot, option=option) for option in _options(beside(slot, mask)))
    yield from (Miss(pair=number) for number in range(len(aim.pairs)))
    for number, clause in enumerate(aim.choices):
        yield Miss(clause=number)
        for position, (asked, equal) in enumerate(clause[:_MOST_ALTERNATIVES]):
            yield Miss(clause=number, only=position)
            demands = range(len(asked) + len(equal))
            yield from (Miss(clause=number, only=position, demand=demand) for demand in demands)
        # A demand is in many alternatives of a long clause, and misses by numbers are tried in the first of them.
        first: dict[Demand, tuple[int, int]] = {}
        for position, (asked, _) in enumerate(clause):
            for demand, one in enumerate(asked):
                first.setdefault(one, (position, demand))
        for one, (position, demand) in first.items():
            options = _options(beside(*one))
            yield from (Miss(clause=number, only=position, demand=demand, option=option) for option in options)


def _options(mask: Mask) -> list[Mask]:
    """Return each option of a mask of not too many in a mask of its own."""
    return [1 << bit for bit in bits(mask)] if mask.bit_count() <= _MOST_MEMBERS else []


def _members(aim: Aim, numbers: Sequence[int]) -> Iterator[tuple[Demand, Hashable]]:
    """Yield a demand for each option of the inputs that the aim leaves a few of, and the list it is a member of.

    ``numbers`` are those of its clauses.
    """
    lists: list[tuple[Demand, Hashable]] = [(demand, demand) for demand in aim.left.items()]
    for number, clause in zip(numbers, aim.choices, strict=True):
        lists += [(demand, number) for asked, _ in clause for demand in asked]
    for (slot, mask), listed in lists:
        if slot != MACHINE and mask.bit_count() > 1:
            yield from (((slot, option), listed) for option in _options(mask))


def _key(aim: Aim, miss: Miss, numbers: Sequence[int]) -> Hashable:
    """Return what a miss breaks: the same for ways that share the demand. ``numbers`` are those of the clauses."""
    if miss.slot is not None:
        return miss.slot, aim.left[miss.slot], miss.option
    if miss.pair is not None:
        return aim.pairs[miss.pair]
    assert miss.clause is not None
    return numbers[miss.clause], miss.only, miss.demand, miss.option
