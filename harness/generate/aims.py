"""Draws what it takes to get to one place of a resolution: the inputs that an aim asks for, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from harness.generate.domains import Domains
from harness.generate.draw import Draw, SeededDraw, shuffled
from harness.generate.inputs import ABSENT, ARCHITECTURE, MACHINE, Inputs, Mask, Slot
from harness.generate.machines import draw_machine
from harness.generate.models import ModelDraw
from harness.subjects.description import Aims, Condition
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.profiles import hardware_profiles, model_profiles

# A place is met so many times before its demands are missed one by one.
_HITS: Final = 1
# A list of so many members is tried member by member.
_MOST_MEMBERS: Final = 12
# A demand is missed, and a member of a list tried, at so many places.
_TURNS: Final = 8
# Of the alternatives of a clause, so many are missed demand by demand.
_MOST_ALTERNATIVES: Final = 4
# Of a hundred aimed draws, so many aim at a refusal (besides those that come to one by the way).
_REFUSED: Final = 30

Demand = tuple[Slot, Mask]
Pair = tuple[str, str, bool]
Alternative = tuple[tuple[Demand, ...], tuple[Pair, ...]]
Entry = tuple[str, str, tuple[Any, ...]]


@dataclass
class _Aim:
    """An aim that cases can be drawn for: what it leaves of each input, and what there is to choose between.

    ``pairs`` are arguments that should be equal, or differ. ``entries`` are the options of each input where there is
    nothing to choose.
    """

    left: dict[Slot, Mask] = field(default_factory=dict)
    choices: list[list[Alternative]] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    entries: list[Entry] | None = None


class Miss(NamedTuple):
    """The one demand of an aim that a case breaks: the nearest miss is what finds a changed guard.

    A demand on an input (``slot``), the equality of two arguments (``pair``), every alternative of a clause
    (``clause``), every alternative but one (``clause`` and ``only``), which finds an alternative that was dropped, or
    one demand of an alternative whose others are met (``demand``, too).
    """

    slot: Slot | None = None
    pair: int | None = None
    clause: int | None = None
    only: int | None = None
    demand: int | None = None


class Goal(NamedTuple):
    """What one aimed case is drawn for.

    The aims of a place, any of which will do, or a miss of one of them; with ``fixed`` an input's mask that leaves
    one of the options that the aim asks for, so that each member of a list has its turn.
    """

    aims: Sequence[_Aim]
    miss: Miss | None = None
    fixed: Demand | None = None


class Drawn(NamedTuple):
    """The inputs drawn for an aim: ``args`` and ``env`` as a case has them, and names that must not be added."""

    args: dict[str, Any]
    env: dict[str, str]
    hardware: Hardware
    model: Model
    silent: list[str]


class AimDraw:
    """Draws inputs for the aims of one campaign, each aim as often as another."""

    def __init__(self, domains: Domains, models: ModelDraw) -> None:
        self._inputs = Inputs(domains)
        self._from_machine = frozenset(domains.from_machine)
        self._models = models
        self._equal: dict[tuple[Pair, Mask, Mask], tuple[tuple[Any, Any], ...]] = {}
        self._inputs.widen(domains.aims.conditions)
        self._profiles = _profiles_by_architecture()
        every = self._compile(domains.aims)
        self.places = list(every.values())
        refusals = dict.fromkeys(domains.aims.refusals)
        refused = [place for number, place in every.items() if number in refusals]
        others = [place for number, place in every.items() if number not in refusals]
        self._goals = _goals(others or refused)
        self._refused = _goals(refused or others)

    def schedules(self, seed: int) -> Schedules:
        """Return the goals in the order in which a campaign of ``seed`` takes them: each once before any again."""
        return Schedules(
            resolved=shuffled(self._goals, SeededDraw(seed, -1)),
            refused=shuffled(self._refused, SeededDraw(seed, -2)),
        )

    # -- what the aims leave -----------------------------------------------------------------------------------------

    def _compile(self, aims: Aims) -> dict[int, list[_Aim]]:
        """Return the aims of each place that asks for something a case can have, by the place's number."""
        demands = [self._inputs.mask(condition) for condition in aims.conditions]
        pairs = [self._pair(condition) for condition in aims.conditions]
        clauses = [self._clause(clause, demands, pairs) for clause in aims.clauses]
        places: dict[str, tuple[int, list[_Aim]]] = {}
        for position, place in enumerate(aims.places):
            ways: dict[str, _Aim] = {}
            for numbers in place:
                aim = _Aim()
                for number in numbers:
                    _add_clause(aim, clauses[number])
                aim.choices = [clause for clause in aim.choices if not any(_follows(aim.left, one) for one in clause)]
                if not aim.choices and not aim.pairs and not any(name in self._from_machine for _, name in aim.left):
                    aim.entries = self._entries(aim.left)
                if aim.left or aim.choices or aim.pairs:
                    ways.setdefault(repr((aim.left, aim.choices, aim.pairs)), aim)
            if ways:
                places.setdefault("".join(ways), (position, list(ways.values())))
        return dict(places.values())

    def _pair(self, condition: Condition) -> Pair | None:
        if condition.kind != "arg" or condition.operation != "same":
            return None
        names = condition.name, str(condition.values[0])
        known = [self._inputs.slot_of(Condition("arg", name, "true", (), True)) for name in names]
        if any(found is None or found[0][0] != "arg" for found in known):
            return None
        return (*names, condition.wanted)

    def _clause(
        self, clause: tuple[tuple[int, ...], ...], demands: list[Demand | None], pairs: list[Pair | None]
    ) -> list[Alternative]:
        """Return the alternatives of a clause that ask for something a case can have, in demands and pairs."""
        made = []
        for alternative in clause:
            asked = tuple(demand for number in alternative if (demand := demands[number]) is not None)
            equal = tuple(pair for number in alternative if (pair := pairs[number]) is not None)
            left: dict[Slot, Mask] = {}
            for slot, mask in asked:
                left[slot] = left.get(slot, mask) & mask
            one = (tuple(left.items()), equal)
            if (asked or equal) and all(left.values()) and one not in made:
                made.append(one)
        return made

    # -- drawing -----------------------------------------------------------------------------------------------------

    def any_goal(self, draw: Draw) -> Goal:
        """Return one of all goals."""
        return draw.pick(self._refused if draw.chance(_REFUSED) else self._goals)

    def draw(self, draw: Draw, goal: Goal) -> Drawn:
        """Return inputs for a goal."""
        aim = draw.pick(goal.aims)
        args: dict[str, Any] = {}
        env: dict[str, str] = {}
        attributes: dict[str, Any] = {}
        silent: list[str] = []
        left, entries = aim.left, aim.entries
        if goal.miss is not None or goal.fixed is not None or entries is None:
            left = self._chosen(aim, goal, args, silent, draw)
            entries = self._entries(left)
        for kind, name, options in entries:
            option = options[0] if len(options) == 1 else draw.pick(options)
            if kind == "model":
                attributes[name] = option
            elif name in args:
                continue
            elif option is ABSENT:
                silent.append(name)
            elif kind == "arg":
                args[name] = option
            else:
                env[name] = option
        hardware = self._machine(left.get(MACHINE), draw)
        model = self._model(left.get(ARCHITECTURE), attributes, draw)
        for name in silent:
            args.pop(name, None)
        return Drawn(args, env, hardware, model, silent)

    def _entries(self, left: dict[Slot, Mask]) -> list[Entry]:
        """Return the options of each input but machine and architecture, which are drawn by rules of their own."""
        return [
            (*slot, self._inputs.weighted(slot, mask))
            for slot, mask in left.items()
            if slot not in (MACHINE, ARCHITECTURE)
        ]

    def _chosen(self, aim: _Aim, goal: Goal, args: dict[str, Any], silent: list[str], draw: Draw) -> dict[Slot, Mask]:
        """Return what is left of each input after every choice; ``args`` and ``silent`` get what is then decided."""
        left = dict(aim.left)
        pairs = list(aim.pairs)
        miss = goal.miss or Miss()
        if goal.fixed is not None:
            _lay(left, (goal.fixed,))
        if miss.slot is not None:
            left[miss.slot] = (self._inputs.full(miss.slot) ^ left[miss.slot]) or left[miss.slot]
        if miss.pair is not None:
            first, second, same = pairs[miss.pair]
            pairs[miss.pair] = (first, second, not same)
        for number, clause in enumerate(aim.choices):
            if number != miss.clause:
                pairs += _choose(left, clause, draw)
                continue
            if miss.only is not None:
                asked, equal = clause[miss.only]
                if miss.demand is not None:
                    slot, mask = asked[miss.demand]
                    left[slot] = left.get(slot, self._inputs.full(slot)) & ~mask or mask
                    asked = tuple(demand for demand in asked if demand[0] != slot)
                _lay(left, asked)
                pairs += equal
            for position, alternative in enumerate(clause):
                if position != miss.only:
                    pairs += self._break(left, alternative, draw)
        self._let_machine_say(left, silent)
        for pair in pairs:
            self._draw_pair(pair, left, args, draw)
        silent += [name for name, option in args.items() if option is ABSENT]
        return left

    def _break(self, left: dict[Slot, Mask], alternative: Alternative, draw: Draw) -> list[Pair]:
        """Leave nothing of one demand of an alternative, unless one is broken anyway; return a pair to break else."""
        asked, equal = alternative
        if any(slot in left and not left[slot] & mask for slot, mask in asked):
            return []
        rests = []
        for slot, mask in asked:
            rest = left.get(slot, self._inputs.full(slot)) & ~mask
            if rest:
                rests.append((slot, rest))
        if rests:
            slot, rest = draw.pick(rests)
            left[slot] = rest
            return []
        return [(first, second, not same) for first, second, same in equal[:1]]

    def _let_machine_say(self, left: dict[Slot, Mask], silent: list[str]) -> None:
        """Choose a machine that gives arguments the values asked for, where there is one; else they are set."""
        for slot in [slot for slot in left if slot[0] == "arg" and slot[1] in self._from_machine]:
            machines = self._inputs.machines_for(slot[1], left[slot])
            rest = machines and left.get(MACHINE, machines) & machines
            if rest:
                left[MACHINE] = rest
                del left[slot]
                silent.append(slot[1])
            else:
                # Silence would mean what the machine says.
                left[slot] = left[slot] & ~1 or left[slot]

    def _draw_pair(self, pair: Pair, left: dict[Slot, Mask], args: dict[str, Any], draw: Draw) -> None:
        first, second, same = pair
        if first in args or second in args:
            return
        masks = [left.get(slot, self._inputs.full(slot)) for slot in (("arg", first), ("arg", second))]
        key = (pair, masks[0], masks[1])
        if key not in self._equal:
            options = [self._inputs.left(("arg", name), mask) for name, mask in zip(pair[:2], masks, strict=True)]
            self._equal[key] = tuple(
                (one, other)
                for one in options[0]
                for other in options[1]
                if (self._inputs.value(first, one) == self._inputs.value(second, other)) is same
            )
        if self._equal[key]:
            args[first], args[second] = draw.pick(self._equal[key])

    def _machine(self, mask: Mask | None, draw: Draw) -> Hardware:
        if mask is None:
            return draw_machine(draw)
        # The profiles are the first of all machines.
        real = mask & ((1 << len(hardware_profiles())) - 1)
        return draw.pick(self._inputs.left(MACHINE, real if real and draw.chance(70) else mask))  # type: ignore[no-any-return]

    def _model(self, mask: Mask | None, attributes: dict[str, Any], draw: Draw) -> Model:
        if mask is None and not attributes:
            return self._models.draw(draw)
        if mask is None:
            base = draw.pick(model_profiles())
        else:
            name = draw.pick(self._inputs.left(ARCHITECTURE, mask))
            profiles = self._profiles.get(name)
            if not profiles or not draw.chance(60):
                return Model(architectures=[name], **attributes)
            base = draw.pick(profiles)
        return msgspec.structs.replace(base, **attributes) if attributes else base


class Schedules(NamedTuple):
    """Two orders of goals: those that should resolve, and those that should end in a refusal."""

    resolved: Sequence[Goal]
    refused: Sequence[Goal]

    def goal(self, number: int) -> Goal:
        """Return the goal of the aimed case ``number``: of each hundred, so many are of the second order."""
        hundreds, rest = divmod(number, 100)
        if rest < _REFUSED:
            return self.refused[(hundreds * _REFUSED + rest) % len(self.refused)]
        return self.resolved[(hundreds * (100 - _REFUSED) + rest - _REFUSED) % len(self.resolved)]


def _goals(places: Sequence[Sequence[_Aim]]) -> list[Goal]:
    """Return the goals of some places: each to be met a few times, each demand missed, each member of a list tried.

    A demand that many places share, because they lie behind it, has its turn at a few of them.
    """
    goals = []
    turns: Counter[str] = Counter()
    # Shuffled, so that a demand's turns are not all at the first places behind it.
    for ways in shuffled(places, SeededDraw(0, -3)):
        goals += [Goal(ways)] * _HITS
        # Ways differ in how they come to the place; the demands of the place itself are in all of them.
        seen: set[str] = set()
        for aim in ways:
            asked = [(_key(aim, miss), Goal([aim], miss)) for miss in _misses(aim)]
            asked += [(repr((fixed, listed)), Goal([aim], None, fixed)) for fixed, listed in _members(aim)]
            for key, goal in asked:
                if key not in seen and turns[key] < _TURNS:
                    seen.add(key)
                    turns[key] += 1
                    goals.append(goal)
    return goals


def _misses(aim: _Aim) -> Iterator[Miss]:
    yield from (Miss(slot=slot) for slot in aim.left)
    yield from (Miss(pair=number) for number in range(len(aim.pairs)))
    for number, clause in enumerate(aim.choices):
        yield Miss(clause=number)
        for position, (asked, _) in enumerate(clause[:_MOST_ALTERNATIVES]):
            yield Miss(clause=number, only=position)
            yield from (Miss(clause=number, only=position, demand=demand) for demand in range(len(asked)))


def _members(aim: _Aim) -> Iterator[tuple[Demand, object]]:
    """Yield a demand for each option of the inputs that the aim leaves a few of, and the list it is a member of."""
    lists: list[tuple[Demand, object]] = [(demand, demand) for demand in aim.left.items()]
    lists += [(demand, clause) for clause in aim.choices for asked, _ in clause for demand in asked]
    for (slot, mask), listed in lists:
        if slot != MACHINE and 1 < mask.bit_count() <= _MOST_MEMBERS:
            yield from (((slot, 1 << bit), listed) for bit in range(mask.bit_length()) if mask >> bit & 1)


def _key(aim: _Aim, miss: Miss) -> str:
    """Return what a miss breaks: the same for ways that share the demand."""
    if miss.slot is not None:
        return repr((miss.slot, aim.left[miss.slot]))
    if miss.pair is not None:
        return repr(aim.pairs[miss.pair])
    assert miss.clause is not None
    return repr((aim.choices[miss.clause], miss.only, miss.demand))


def _add_clause(aim: _Aim, clause: list[Alternative]) -> None:
    if len(clause) == 1:
        asked, equal = clause[0]
        _lay(aim.left, asked)
        aim.pairs += [pair for pair in equal if pair not in aim.pairs]
    elif clause:
        aim.choices.append(clause)


def _follows(left: dict[Slot, Mask], alternative: Alternative) -> bool:
    """Return whether what is left meets an alternative anyway."""
    asked, equal = alternative
    return not equal and all(slot in left and not left[slot] & ~mask for slot, mask in asked)


def _choose(left: dict[Slot, Mask], clause: list[Alternative], draw: Draw) -> tuple[Pair, ...]:
    """Lay one alternative over what is left: the first, from a drawn one on, that can be; return its pairs."""
    count = len(clause)
    start = draw.below(count)
    for step in range(count):
        asked, equal = clause[(start + step) % count]
        for slot, mask in asked:
            if slot in left and not left[slot] & mask:
                break
        else:
            _lay(left, asked)
            return equal
    return ()


def _lay(left: dict[Slot, Mask], demands: tuple[Demand, ...]) -> None:
    """Lay demands over what is left; one that leaves nothing is given up, since it is about a later state."""
    for slot, mask in demands:
        known = left.get(slot)
        rest = mask if known is None else known & mask
        if rest:
            left[slot] = rest


def _profiles_by_architecture() -> dict[str, list[Model]]:
    found: dict[str, list[Model]] = {}
    for model in model_profiles():
        found.setdefault(model.architectures[0], []).append(model)
    return found
