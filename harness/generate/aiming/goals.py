"""Goals say what each aimed case is drawn for, and schedules in which order a campaign uses them.

A goal is to meet an aim, to miss one of its demands, or to try one member of a list that a condition compares with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final, NamedTuple

from harness.generate.aiming.aim import Aim, InputAlternative, InputDemand
from harness.generate.chance.draw import SeededDraw, shuffled
from harness.generate.chance.streams import Stream
from harness.generate.values.inputs import MACHINE, InputKey, Mask, bits

# A list is tried member by member if it has at most this many.
_MOST_MEMBERS: Final = 12
# At most this many places get a goal that misses the same demand, or that tries the same member of a list.
_TURNS: Final = 8
# Of each clause, this many alternatives are missed demand by demand.
_MOST_ALTERNATIVES: Final = 4
# How many of a hundred aimed cases have a goal that ends in a refusal.
REFUSED: Final = 30


class Miss(NamedTuple):
    """The one demand of an aim that a case breaks. Such near misses show that a condition was changed.

    A miss breaks one of these:

    - ``key``: the demand on that input;
    - ``relation``: the relation with that number;
    - ``clause``: all alternatives of the clause with that number;
    - ``clause`` and ``only``: all its alternatives except the one with the number ``only``, to show that this one was
      dropped;
    - ``clause``, ``only`` and ``demand``: that one demand of the alternative ``only``, whose other demands are met,
      and all other alternatives. Numbers after the last of its demands count its relations.

    ``option`` is the option that the input of a missed demand gets. Without it, the input gets any option that does
    not meet the demand.
    """

    key: InputKey | None = None
    relation: int | None = None
    clause: int | None = None
    only: int | None = None
    demand: int | None = None
    option: Mask | None = None


class Goal(NamedTuple):
    """What one aimed case is drawn for: to meet any of ``aims``, or to miss one of them.

    ``fixed`` limits one input to a single option that the aim allows; so each member of a list has its turn.
    """

    aims: Sequence[Aim]
    miss: Miss | None = None
    fixed: InputDemand | None = None


class Schedules(NamedTuple):
    """The goals of a campaign in two orders: those that should resolve, and those that should end in a refusal."""

    resolved: Sequence[Goal]
    refused: Sequence[Goal]

    def goal(self, number: int) -> Goal:
        """Return the goal of the aimed case ``number``: of each hundred, the first `REFUSED` should be refused."""
        hundreds, rest = divmod(number, 100)
        if rest < REFUSED:
            return self.refused[(hundreds * REFUSED + rest) % len(self.refused)]
        return self.resolved[(hundreds * (100 - REFUSED) + rest - REFUSED) % len(self.resolved)]


def goals_of(places: Sequence[Sequence[Aim]], beside: Callable[[InputKey, Mask], Mask]) -> list[Goal]:
    """Return the goals of some places: to meet each place, to miss each demand, to try each member of a list.

    ``places`` has the aims of each place, one for each way to it. ``beside`` returns the numbers next to those that
    meet a demand. Each of them gets a goal that misses the demand, which shows a bound that is off by one.

    All places behind one condition share its demand. Only a few of them get a goal that misses it: goals for all
    would be many times as many, and show nothing more.
    """
    goals = []
    turns: Counter[Hashable] = Counter()
    # A clause is long and part of many keys. Its number stands for it in a key, so that it is hashed only once.
    clauses: dict[tuple[InputAlternative, ...], int] = {}
    # Shuffled: in the order of the source, the first places behind a condition would use up the few goals for it.
    for ways in shuffled(places, SeededDraw(0, Stream.DEMAND_TURNS)):
        goals.append(Goal(ways))
        # Demands close to the place are in the aims of all ways to it; one goal that misses them is enough.
        seen: set[Hashable] = set()
        for aim in ways:
            numbers = [clauses.setdefault(tuple(clause), len(clauses)) for clause in aim.choices]
            keyed: list[tuple[Hashable, Goal]] = [
                (_key(aim, miss, numbers), Goal([aim], miss)) for miss in _misses(aim, beside)
            ]
            keyed += [((fixed, listed), Goal([aim], None, fixed)) for fixed, listed in _members(aim, numbers)]
            for key, goal in keyed:
                if key not in seen and turns[key] < _TURNS:
                    seen.add(key)
                    turns[key] += 1
                    goals.append(goal)
    return goals


def _misses(aim: Aim, beside: Callable[[InputKey, Mask], Mask]) -> Iterator[Miss]:
    for key, mask in aim.left.items():
        yield Miss(key=key)
        yield from (Miss(key=key, option=option) for option in _options(beside(key, mask)))
    yield from (Miss(relation=number) for number in range(len(aim.relations)))
    for number, clause in enumerate(aim.choices):
        yield Miss(clause=number)
        for position, (demands, relations) in enumerate(clause[:_MOST_ALTERNATIVES]):
            yield Miss(clause=number, only=position)
            for demand in range(len(demands) + len(relations)):
                yield Miss(clause=number, only=position, demand=demand)
        # A long clause repeats a demand in many alternatives; the numbers beside it are tried in the first of these
        # only.
        first: dict[InputDemand, tuple[int, int]] = {}
        for position, (demands, _) in enumerate(clause):
            for demand, one in enumerate(demands):
                first.setdefault(one, (position, demand))
        for one, (position, demand) in first.items():
            options = _options(beside(*one))
            yield from (Miss(clause=number, only=position, demand=demand, option=option) for option in options)


def _options(mask: Mask) -> list[Mask]:
    """Return a mask for each option in ``mask``, none if there are more than `_MOST_MEMBERS`."""
    return [1 << bit for bit in bits(mask)] if mask.bit_count() <= _MOST_MEMBERS else []


def _members(aim: Aim, numbers: Sequence[int]) -> Iterator[tuple[InputDemand, Hashable]]:
    """Yield a demand for every single option of each input that has a few, with a key for the list that it is from.

    ``numbers`` are the numbers of the aim's clauses.
    """
    lists: list[tuple[InputDemand, Hashable]] = [(demand, demand) for demand in aim.left.items()]
    for number, clause in zip(numbers, aim.choices, strict=True):
        lists += [(demand, number) for demands, _ in clause for demand in demands]
    for (key, mask), listed in lists:
        if key != MACHINE and mask.bit_count() > 1:
            yield from (((key, option), listed) for option in _options(mask))


def _key(aim: Aim, miss: Miss, numbers: Sequence[int]) -> Hashable:
    """Return a key for what a miss breaks; it is equal for all aims that share the demand.

    ``numbers`` are those of the aim's clauses.
    """
    if miss.key is not None:
        return miss.key, aim.left[miss.key], miss.option
    if miss.relation is not None:
        return aim.relations[miss.relation]
    assert miss.clause is not None
    return numbers[miss.clause], miss.only, miss.demand, miss.option
