"""Draws what it takes to get to one place of a resolution: the inputs that an aim asks for, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from harness.generate.domains import Domains
from harness.generate.draw import Draw
from harness.generate.inputs import ABSENT, ARCHITECTURE, MACHINE, Inputs, Mask, Slot
from harness.generate.machines import PROFILES as MACHINE_PROFILES
from harness.generate.machines import draw_machine
from harness.generate.models import PROFILES as MODEL_PROFILES
from harness.generate.models import ModelDraw
from harness.subjects.description import Aims, Condition
from harness.world.hardware import Hardware
from harness.world.model import Model

# Of a hundred aimed draws, so many break one demand: the nearest miss is what finds a changed guard.
_MISSES: Final = 12
# Of a hundred aimed draws, so many aim at a refusal (besides those that come to one by the way).
_REFUSED: Final = 35

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
        self._refusals = [place for number, place in every.items() if number in refusals] or self.places

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

    def draw(self, draw: Draw) -> Drawn:
        """Return inputs for one of the aims; now and then they miss it in one of them."""
        aim = draw.pick(draw.pick(self._refusals if draw.chance(_REFUSED) else self.places))
        args: dict[str, Any] = {}
        env: dict[str, str] = {}
        attributes: dict[str, Any] = {}
        silent: list[str] = []
        left, entries = aim.left, aim.entries
        missed = draw.chance(_MISSES)
        if missed or entries is None:
            left = self._chosen(aim, missed, args, silent, draw)
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

    def _chosen(
        self, aim: _Aim, missed: bool, args: dict[str, Any], silent: list[str], draw: Draw
    ) -> dict[Slot, Mask]:
        """Return what is left of each input after every choice; ``args`` and ``silent`` get what is then decided."""
        left = dict(aim.left)
        pairs = list(aim.pairs)
        for clause in aim.choices:
            pairs += _choose(left, clause, draw)
        if missed and left:
            slot = draw.pick(tuple(left))
            left[slot] = (self._inputs.full(slot) ^ left[slot]) or left[slot]
        self._let_machine_say(left, silent)
        for pair in pairs:
            self._draw_pair(pair, left, args, draw)
        silent += [name for name, option in args.items() if option is ABSENT]
        return left

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
        real = mask & ((1 << len(MACHINE_PROFILES)) - 1)
        return draw.pick(self._inputs.left(MACHINE, real if real and draw.chance(70) else mask))  # type: ignore[no-any-return]

    def _model(self, mask: Mask | None, attributes: dict[str, Any], draw: Draw) -> Model:
        if mask is None and not attributes:
            return self._models.draw(draw)
        if mask is None:
            base = draw.pick(MODEL_PROFILES)
        else:
            name = draw.pick(self._inputs.left(ARCHITECTURE, mask))
            profiles = self._profiles.get(name)
            if not profiles or not draw.chance(60):
                return Model(architectures=[name], **attributes)
            base = draw.pick(profiles)
        return msgspec.structs.replace(base, **attributes) if attributes else base


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
    for model in MODEL_PROFILES:
        found.setdefault(model.architectures[0], []).append(model)
    return found
