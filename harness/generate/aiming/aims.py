"""Draws what it takes to get to one place of a resolution: the inputs that an aim asks for, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

import msgspec

from harness.generate.aiming.aim import (
    Aim,
    Alternative,
    Demand,
    Entry,
    Pair,
    add_clause,
    choose,
    follows,
    lay,
    opposite,
)
from harness.generate.aiming.crossed import Place, crossed_goals, refused_twice
from harness.generate.aiming.goals import REFUSED, Goal, Miss, Schedules, goals_of
from harness.generate.chance.draw import Draw, SeededDraw, shuffled
from harness.generate.chance.streams import Stream
from harness.generate.values.domains import Domains
from harness.generate.values.inputs import ABSENT, ARCHITECTURE, MACHINE, RELATIONS, Inputs, Mask, Slot, related
from harness.generate.values.machines import draw_machine
from harness.generate.values.models import ModelDraw
from harness.subjects.description import Aims, Condition
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.profiles import hardware_profiles, model_profiles


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
        self._related: dict[tuple[Pair, Mask, Mask], tuple[tuple[Mask, Mask], ...]] = {}
        self._inputs.widen(domains.aims.conditions)
        self._profiles = _profiles_by_architecture()
        every = self._compile(domains.aims)
        self.places = list(every.values())
        refusals = dict.fromkeys(domains.aims.refusals)
        reads, writes = _by_place(domains.aims.readers), _by_place(domains.aims.writers)
        refused, others = (
            [
                Place(place, reads.get(number, ()), writes.get(number, ()))
                for number, place in every.items()
                if (number in refusals) is refuses
            ]
            for refuses in (True, False)
        )
        writers: dict[str, list[list[Aim]]] = {}
        for number, name in domains.aims.writers:
            if number in every:
                writers.setdefault(name, []).append(every[number])
        self._goals, self._refused = (
            goals_of([place.ways for place in some or rest], self._inputs.beside)
            + crossed_goals(some, writers, self._settable)
            for some, rest in ((others, refused), (refused, others))
        )
        self._refused += refused_twice([place.ways for place in refused])

    def schedules(self, seed: int) -> Schedules:
        """Return the goals in the order in which a campaign of ``seed`` takes them: each once before any again."""
        return Schedules(
            resolved=shuffled(self._goals, SeededDraw(seed, Stream.RESOLVED_GOALS)),
            refused=shuffled(self._refused, SeededDraw(seed, Stream.REFUSED_GOALS)),
        )

    def _settable(self, slot: Slot) -> Mask:
        """Return the options of an argument that a user can set: all but silence, which is the first."""
        return 0 if self._inputs.input(*slot) is None else self._inputs.full(slot) & ~1

    # -- what the aims leave -----------------------------------------------------------------------------------------

    def _compile(self, aims: Aims) -> dict[int, list[Aim]]:
        """Return the aims of each place that asks for something a case can have, by the place's number."""
        demands = [self._inputs.mask(condition) for condition in aims.conditions]
        pairs = [self._pair(condition) for condition in aims.conditions]
        clauses = [self._clause(clause, demands, pairs) for clause in aims.clauses]
        places: dict[Hashable, tuple[int, list[Aim]]] = {}
        for position, place in enumerate(aims.places):
            ways: dict[Hashable, Aim] = {}
            for numbers in place:
                aim = Aim()
                for number in numbers:
                    add_clause(aim, clauses[number])
                aim.choices = [clause for clause in aim.choices if not any(follows(aim.left, one) for one in clause)]
                if not aim.choices and not aim.pairs and not any(name in self._from_machine for _, name in aim.left):
                    aim.entries = self._entries(aim.left)
                if aim.left or aim.choices or aim.pairs:
                    ways.setdefault(aim.key(), aim)
            if ways:
                places.setdefault(tuple(ways), (position, list(ways.values())))
        return dict(places.values())

    def _pair(self, condition: Condition) -> Pair | None:
        if condition.operation not in RELATIONS:
            return None
        name, kind = (*condition.values, "arg")[:2]
        ends = (str(condition.kind), condition.name), (str(kind), str(name))
        slots = [found[0] for end in ends if (found := self._inputs.input(*end)) is not None]
        # One input is not chosen twice, and which machines there are is not for two inputs to say.
        if len(set(slots)) < 2 or MACHINE in slots:
            return None
        return *ends, condition.operation, condition.wanted

    def _clause(
        self, clause: tuple[tuple[int, ...], ...], demands: list[Demand | None], pairs: list[Pair | None]
    ) -> list[Alternative]:
        """Return the alternatives of a clause that ask for something a case can have, in demands and pairs."""
        made: list[Alternative] = []
        for alternative in clause:
            known = [demand for number in alternative if (demand := demands[number]) is not None]
            # What every case has asks for nothing.
            asked = tuple((slot, mask) for slot, mask in known if mask != self._inputs.full(slot))
            equal = tuple(pair for number in alternative if (pair := pairs[number]) is not None)
            if len(known) == len(alternative) and not asked and not equal:
                return []
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
        return draw.pick(self._refused if draw.chance(REFUSED) else self._goals)

    def draw(self, draw: Draw, goal: Goal) -> Drawn:
        """Return inputs for a goal."""
        aim = draw.pick(goal.aims)
        args: dict[str, Any] = {}
        env: dict[str, str] = {}
        attributes: dict[str, Any] = {}
        silent: list[str] = []
        left, entries = aim.left, aim.entries
        if goal.miss is not None or goal.fixed is not None or entries is None:
            left = self._chosen(aim, goal, silent, draw)
            entries = self._entries(left)
        for kind, name, options in entries:
            option = options[0] if len(options) == 1 else draw.pick(options)
            if kind == "model":
                attributes[name] = option
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

    def _chosen(self, aim: Aim, goal: Goal, silent: list[str], draw: Draw) -> dict[Slot, Mask]:
        """Return what is left of each input after every choice; ``silent`` gets what the machine says then."""
        left = dict(aim.left)
        pairs = list(aim.pairs)
        miss = goal.miss or Miss()
        if goal.fixed is not None:
            lay(left, (goal.fixed,))
        if miss.slot is not None:
            mask = left[miss.slot]
            left[miss.slot] = miss.option or self._inputs.full(miss.slot) & ~mask or mask
        if miss.pair is not None:
            pairs[miss.pair] = opposite(pairs[miss.pair])
        for number, clause in enumerate(aim.choices):
            if number != miss.clause:
                pairs += choose(left, clause, draw)
                continue
            if miss.only is not None:
                asked, equal = clause[miss.only]
                if miss.demand is not None and miss.demand >= len(asked):
                    missed = miss.demand - len(asked)
                    equal = (*equal[:missed], opposite(equal[missed]), *equal[missed + 1 :])
                elif miss.demand is not None:
                    slot, mask = asked[miss.demand]
                    left[slot] = miss.option or left.get(slot, self._inputs.full(slot)) & ~mask or mask
                    asked = tuple(demand for demand in asked if demand[0] != slot)
                lay(left, asked)
                pairs += equal
            for position, alternative in enumerate(clause):
                if position != miss.only:
                    pairs += self._break(left, alternative, draw)
        self._let_machine_say(left, silent)
        for pair in pairs:
            self._draw_pair(pair, left, draw)
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
        return [opposite(pair) for pair in equal[:1]]

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

    def _draw_pair(self, pair: Pair, left: dict[Slot, Mask], draw: Draw) -> None:
        """Leave one option of both inputs that are so related, unless no two of those left are."""
        *ends, relation, wanted = pair
        (one, read_one), (other, read_other) = (self._known_input(*end) for end in ends)
        masks = [left.get(slot, self._inputs.full(slot)) for slot in (one, other)]
        key = (pair, masks[0], masks[1])
        if key not in self._related:
            options = [
                [(1 << index, read(option)) for index, option in self._inputs.numbered(slot, mask)]
                for slot, read, mask in ((one, read_one, masks[0]), (other, read_other, masks[1]))
            ]
            self._related[key] = tuple(
                (bit, other_bit)
                for bit, value in options[0]
                for other_bit, other_value in options[1]
                if related(relation, value, other_value) is wanted
            )
        if self._related[key]:
            left[one], left[other] = draw.pick(self._related[key])

    def _known_input(self, kind: str, name: str) -> tuple[Slot, Callable[[Any], Any]]:
        found = self._inputs.input(kind, name)
        assert found is not None, "a pair is made of inputs that a case can have"
        return found

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


def _by_place(fields: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for number, name in fields:
        found.setdefault(number, []).append(name)
    return found


def _profiles_by_architecture() -> dict[str, list[Model]]:
    found: dict[str, list[Model]] = {}
    for model in model_profiles():
        found.setdefault(model.architectures[0], []).append(model)
    return found
