"""Draws the inputs that a case needs for a goal; inputs on which the goal does not depend are left to the caller."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

import msgspec

from harness.generate.aiming.aim import (
    Aim,
    InputAlternative,
    InputDemand,
    InputOptions,
    InputRelation,
    add_clause,
    choose,
    is_met,
    narrow,
    opposite,
)
from harness.generate.aiming.crossed import AimedPlace, crossed_goals, refused_twice
from harness.generate.aiming.goals import REFUSED, Goal, Miss, Schedules, goals_of
from harness.generate.chance.draw import Draw, SeededDraw, shuffled
from harness.generate.chance.streams import Stream
from harness.generate.values.domains import Domains
from harness.generate.values.inputs import ABSENT, ARCHITECTURE, MACHINE, RELATIONS, InputKey, Inputs, Mask, related
from harness.generate.values.machines import draw_machine
from harness.generate.values.models import ModelDraw
from harness.subjects.description import Aims, Condition
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.profiles import hardware_profiles, model_profiles


class AimedInputs(NamedTuple):
    """The inputs drawn for a goal. ``silent`` names arguments and variables that the case has to leave out."""

    args: dict[str, Any]
    env: dict[str, str]
    hardware: Hardware
    model: Model
    silent: list[str]


class AimDraw:
    """Holds the goals of one campaign, and draws inputs for them."""

    def __init__(self, domains: Domains, models: ModelDraw) -> None:
        self._inputs = Inputs(domains)
        self._from_machine = frozenset(domains.from_machine)
        self._models = models
        # Cache of `_relate`: the pairs of options that fit, by the relation and the options that both inputs have
        # left.
        self._related: dict[tuple[InputRelation, Mask, Mask], tuple[tuple[Mask, Mask], ...]] = {}
        self._inputs.widen(domains.aims.conditions)
        every = self._compile(domains.aims)
        self.places = list(every.values())
        reads, writes = _by_place(domains.aims.readers), _by_place(domains.aims.writers)
        refusals = frozenset(domains.aims.refusals)
        refused, others = (
            [
                AimedPlace(ways, reads.get(number, ()), writes.get(number, ()))
                for number, ways in every.items()
                if (number in refusals) is refuses
            ]
            for refuses in (True, False)
        )
        writers: dict[str, list[list[Aim]]] = {}
        for number, name in domains.aims.writers:
            if number in every:
                writers.setdefault(name, []).append(every[number])
        # No schedule may be empty: if no place refuses, or if every place does, both have the same places.
        self._goals, self._refused = (
            goals_of([place.ways for place in some or rest], self._inputs.beside)
            + crossed_goals(some, writers, self._settable)
            for some, rest in ((others, refused), (refused, others))
        )
        self._refused += refused_twice([place.ways for place in refused])

    def schedules(self, seed: int) -> Schedules:
        """Return the goals in the order of a campaign of ``seed``: each is used once before any is used again."""
        return Schedules(
            resolved=shuffled(self._goals, SeededDraw(seed, Stream.RESOLVED_GOALS)),
            refused=shuffled(self._refused, SeededDraw(seed, Stream.REFUSED_GOALS)),
        )

    def _settable(self, key: InputKey) -> Mask:
        """Return the options of an argument that a user can set: all but the first, which leaves it out.

        The mask is empty if no case can have the argument.
        """
        return 0 if self._inputs.input(*key) is None else self._inputs.full(key) & ~1

    # -- from conditions to aims -------------------------------------------------------------------------------------

    def _compile(self, aims: Aims) -> dict[int, list[Aim]]:
        """Return the aims of each place, by the place's number.

        Left out are places that demand nothing of a case, and those with the same aims as an earlier place.
        """
        demands = [self._inputs.mask(condition) for condition in aims.conditions]
        relations = [self._relation(condition) for condition in aims.conditions]
        clauses = [self._clause(clause, demands, relations) for clause in aims.clauses]
        places: dict[Hashable, tuple[int, list[Aim]]] = {}
        for position, place in enumerate(aims.places):
            ways: dict[Hashable, Aim] = {}
            for numbers in place:
                aim = Aim()
                for number in numbers:
                    add_clause(aim, clauses[number])
                # A clause is done with if the other demands already meet one of its alternatives.
                aim.choices = [clause for clause in aim.choices if not any(is_met(aim.left, one) for one in clause)]
                if (
                    not aim.choices
                    and not aim.relations
                    and not any(name in self._from_machine for _, name in aim.left)
                ):
                    # Nothing is left to choose: no clause, no relation, no argument to which the machine may give its
                    # value.
                    aim.options = self._options(aim.left)
                if aim.left or aim.choices or aim.relations:
                    ways.setdefault(aim.key(), aim)
            if ways:
                places.setdefault(tuple(ways), (position, list(ways.values())))
        return dict(places.values())

    def _relation(self, condition: Condition) -> InputRelation | None:
        """Return the relation between two inputs that a condition is about; None for other conditions."""
        if condition.operation not in RELATIONS:
            return None
        # The values of such a condition are the name of the other input and, unless it is an argument, its kind.
        name, kind = (*condition.values, "arg")[:2]
        ends = (str(condition.kind), condition.name), (str(kind), str(name))
        keys = [found[0] for end in ends if (found := self._inputs.input(*end)) is not None]
        # `_relate` draws options for two different inputs; `_machine` draws machines and knows no relations.
        if len(set(keys)) < 2 or MACHINE in keys:
            return None
        return *ends, condition.operation, condition.wanted

    def _clause(
        self,
        clause: tuple[tuple[int, ...], ...],
        demands: list[InputDemand | None],
        relations: list[InputRelation | None],
    ) -> list[InputAlternative]:
        """Return the alternatives of a clause that a case can meet; none if every case meets the clause anyway.

        Conditions on something that is no input of a case (``demands`` and ``relations`` both have None) are ignored.
        """
        made: list[InputAlternative] = []
        for alternative in clause:
            known = [demand for number in alternative if (demand := demands[number]) is not None]
            asked = tuple((key, mask) for key, mask in known if mask != self._inputs.full(key))
            related_inputs = tuple(one for number in alternative if (one := relations[number]) is not None)
            # Every case meets this alternative.
            if len(known) == len(alternative) and not asked and not related_inputs:
                return []
            left: dict[InputKey, Mask] = {}
            for key, mask in asked:
                left[key] = left.get(key, mask) & mask
            one_alternative = (tuple(left.items()), related_inputs)
            # Not an alternative that says nothing of a case, nor one whose demands contradict one another.
            if (asked or related_inputs) and all(left.values()) and one_alternative not in made:
                made.append(one_alternative)
        return made

    # -- from a goal to inputs ---------------------------------------------------------------------------------------

    def any_goal(self, draw: Draw) -> Goal:
        """Return a random goal; as in a schedule, `REFUSED` of a hundred should end in a refusal."""
        return draw.pick(self._refused if draw.chance(REFUSED) else self._goals)

    def draw(self, draw: Draw, goal: Goal) -> AimedInputs:
        """Return inputs for a goal."""
        aim = draw.pick(goal.aims)
        args: dict[str, Any] = {}
        env: dict[str, str] = {}
        attributes: dict[str, Any] = {}
        silent: list[str] = []
        left, drawn_from = aim.left, aim.options
        if goal.miss is not None or goal.fixed is not None or drawn_from is None:
            left = self._chosen(aim, goal, silent, draw)
            drawn_from = self._options(left)
        for kind, name, options in drawn_from:
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
            # `_relate` may have chosen a value for an argument that the machine already gives.
            args.pop(name, None)
        return AimedInputs(args, env, hardware, model, silent)

    def _options(self, left: dict[InputKey, Mask]) -> list[InputOptions]:
        """Return the options of each input in ``left``, except the machine and the architecture.

        These two are drawn by `_machine` and `_model`.
        """
        return [
            (*key, self._inputs.weighted(key, mask))
            for key, mask in left.items()
            if key not in (MACHINE, ARCHITECTURE)
        ]

    def _chosen(self, aim: Aim, goal: Goal, silent: list[str], draw: Draw) -> dict[InputKey, Mask]:
        """Return the options that remain for each input when the miss and one alternative of each clause are applied.

        Adds to ``silent`` the arguments that the case leaves out because the machine gives them the right value.
        """
        left = dict(aim.left)
        relations = list(aim.relations)
        miss = goal.miss or Miss()
        if goal.fixed is not None:
            narrow(left, (goal.fixed,))
        if miss.key is not None:
            mask = left[miss.key]
            # If every option meets the demand, it cannot be missed and stays as it is.
            left[miss.key] = miss.option or self._inputs.full(miss.key) & ~mask or mask
        if miss.relation is not None:
            relations[miss.relation] = opposite(relations[miss.relation])
        for number, clause in enumerate(aim.choices):
            if number == miss.clause:
                relations += self._missed(left, clause, miss, draw)
            else:
                relations += choose(left, clause, draw)
        self._let_machine_give(left, silent)
        for relation in relations:
            self._relate(relation, left, draw)
        return left

    def _missed(
        self, left: dict[InputKey, Mask], clause: list[InputAlternative], miss: Miss, draw: Draw
    ) -> list[InputRelation]:
        """Narrow ``left`` so that a clause is missed as ``miss`` says, and return the relations that this needs."""
        wanted: list[InputRelation] = []
        if miss.only is not None:
            demands, relations = clause[miss.only]
            if miss.demand is not None and miss.demand >= len(demands):
                missed = miss.demand - len(demands)
                relations = (*relations[:missed], opposite(relations[missed]), *relations[missed + 1 :])
            elif miss.demand is not None:
                key, mask = demands[miss.demand]
                left[key] = miss.option or left.get(key, self._inputs.full(key)) & ~mask or mask
                demands = tuple(demand for demand in demands if demand[0] != key)
            narrow(left, demands)
            wanted += relations
        for position, alternative in enumerate(clause):
            if position != miss.only:
                wanted += self._break(left, alternative, draw)
        return wanted

    def _break(self, left: dict[InputKey, Mask], alternative: InputAlternative, draw: Draw) -> list[InputRelation]:
        """Narrow ``left`` so that an alternative fails: it misses one of its demands, unless it misses one already.

        If none of its demands can be missed, return the negation of its first relation, if it has one.
        """
        demands, relations = alternative
        if any(key in left and not left[key] & mask for key, mask in demands):
            return []
        rests = []
        for key, mask in demands:
            rest = left.get(key, self._inputs.full(key)) & ~mask
            if rest:
                rests.append((key, rest))
        if rests:
            key, rest = draw.pick(rests)
            left[key] = rest
            return []
        return [opposite(relation) for relation in relations[:1]]

    def _let_machine_give(self, left: dict[InputKey, Mask], silent: list[str]) -> None:
        """Leave out the arguments that can get the right value from the machine, and choose machines that give it.

        If no machine gives the right value, the argument is set.
        """
        for key in [key for key in left if key[0] == "arg" and key[1] in self._from_machine]:
            machines = self._inputs.machines_for(key[1], left[key])
            rest = machines and left.get(MACHINE, machines) & machines
            if rest:
                left[MACHINE] = rest
                del left[key]
                silent.append(key[1])
            else:
                # Without its first option, which leaves it out: the machine would then give it a wrong value.
                left[key] = left[key] & ~1 or left[key]

    def _relate(self, relation: InputRelation, left: dict[InputKey, Mask], draw: Draw) -> None:
        """Narrow two inputs to one option each, related as wanted; if no two options are, change nothing."""
        *ends, name, wanted = relation
        (one, read_one), (other, read_other) = (self._known_input(*end) for end in ends)
        masks = [left.get(key, self._inputs.full(key)) for key in (one, other)]
        remembered = (relation, masks[0], masks[1])
        if remembered not in self._related:
            options = [
                [(1 << index, read(option)) for index, option in self._inputs.numbered(key, mask)]
                for key, read, mask in ((one, read_one, masks[0]), (other, read_other, masks[1]))
            ]
            self._related[remembered] = tuple(
                (bit, other_bit)
                for bit, value in options[0]
                for other_bit, other_value in options[1]
                if related(name, value, other_value) is wanted
            )
        if self._related[remembered]:
            left[one], left[other] = draw.pick(self._related[remembered])

    def _known_input(self, kind: str, name: str) -> tuple[InputKey, Callable[[Any], Any]]:
        found = self._inputs.input(kind, name)
        assert found is not None, "a relation is made of inputs that a case can have"
        return found

    def _machine(self, mask: Mask | None, draw: Draw) -> Hardware:
        if mask is None:
            return draw_machine(draw)
        # The first machines are the profiles. If one of them meets the aim, 70 % of the cases are on such a machine,
        # one that exists; the others are on any machine that meets it.
        real = mask & ((1 << len(hardware_profiles())) - 1)
        return draw.pick(self._inputs.left(MACHINE, real if real and draw.chance(70) else mask))  # type: ignore[no-any-return]

    def _model(self, mask: Mask | None, attributes: dict[str, Any], draw: Draw) -> Model:
        if mask is None and not attributes:
            return self._models.draw(draw)
        if mask is None:
            base = draw.pick(model_profiles())
        else:
            name = draw.pick(self._inputs.left(ARCHITECTURE, mask))
            profiles = self._models.profiles.get(name)
            if not profiles or not draw.chance(60):
                return Model(architectures=[name], **attributes)
            base = draw.pick(profiles)
        return msgspec.structs.replace(base, **attributes) if attributes else base


def _by_place(fields: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    """Return the names for each place, by its number."""
    found: dict[int, list[str]] = {}
    for number, name in fields:
        found.setdefault(number, []).append(name)
    return found
