"""Makes the cases of a campaign.

Of ten cases, eight aim at a place in the source, one varies a kept case, and one is a row of the covering array. A
case of the last two kinds is drawn freely if no case was kept yet, or all rows were used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from harness.generate.aiming.aims import AimDraw
from harness.generate.aiming.goals import Goal, Schedules
from harness.generate.chance.decks import Deck
from harness.generate.chance.draw import Draw, SeededDraw
from harness.generate.chance.streams import chunk_stream
from harness.generate.covering.rows import Rows
from harness.generate.values.domains import Domains
from harness.generate.values.machines import draw_machine
from harness.generate.values.models import ModelDraw
from harness.generate.vary import Variation
from harness.subjects.description import WORLD
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.profiles import hardware_profiles

CHUNK: Final = 250
"""The number of cases in a chunk. Each chunk has its own random stream, so that any job can make any chunk."""
# The first eight of ten cases aim at a place in the source.
_AIMED: Final = 8
# The percentage of aimed cases in which one argument of the aim also has its siblings set (`Domains.siblings`).
_SIBLINGS: Final = 20
# The position among ten cases, counted from 0, of the one that varies a kept case, if any case was kept.
_VARIED: Final = 8
# The position among ten cases of the one that is a row of the covering array, until all rows were used.
_ROW: Final = 9


class CaseMaker:
    """Makes the cases of one campaign. Its first cases are ``launches``; a few later ones are variations of these."""

    def __init__(self, domains: Domains, launches: Sequence[Case] = ()) -> None:
        self._domains = domains
        self._launches = tuple(launches)
        self._models = ModelDraw(domains)
        self._aims = AimDraw(domains, self._models)
        self._rows = Rows(domains)
        self._machine_deck = Deck(hardware_profiles(), 1)
        self._architecture_deck = Deck(domains.architectures, 2)
        self._variation = Variation(domains, self._models)
        # Cases are counted in tens. This is the number of the first ten whose row is not replaced by a launch.
        self._first_row = (len(self._launches) + 9 - _ROW) // 10
        self._schedules: tuple[int, Schedules] | None = None

    def chunk(self, seed: int, number: int, bases: Sequence[Case] = ()) -> list[Case]:
        """Return the ``CHUNK`` cases of chunk ``number``.

        They depend only on the seed, the number, the domains, the launches and ``bases``. These are the kept cases
        that the chunk varies, one after the other.
        """
        draw = SeededDraw(seed, chunk_stream(number))
        first = number * CHUNK
        cases = []
        for index in range(first, first + CHUNK):
            tens, rest = divmod(index, 10)
            if index < len(self._launches):
                cases.append(self._launches[index])
            elif rest == _VARIED and bases:
                base, other = bases[(index - first) // 10 % len(bases)], draw.pick(bases)
                cases.append(self._variation.varied(draw, base, other, f"{seed}-{index}"))
            elif self._aims.places and rest < _AIMED:
                goal = self._scheduled(seed).goal(tens * _AIMED + rest)
                cases.append(self._aimed(draw, goal, f"{seed}-{index}"))
            else:
                case_id = f"{seed}-{index}"
                row = self._rows.case(seed, tens - self._first_row, draw, case_id) if rest == _ROW else None
                # The number among the cases without an aim: two of ten, or all if there is no place to aim at.
                turn = tens * (10 - _AIMED) + rest - _AIMED if self._aims.places else index
                cases.append(row or self._unaimed(draw, case_id, (seed, turn)))
        return cases if self._domains.takes == WORLD else [self._without_world(case) for case in cases]

    def _without_world(self, case: Case) -> Case:
        """Return the case, with the default machine or model if no subject takes one."""
        hardware = case.hardware if "hardware" in self._domains.takes else Hardware()
        model = case.model if "model" in self._domains.takes else Model()
        return msgspec.structs.replace(case, hardware=hardware, model=model)

    def _scheduled(self, seed: int) -> Schedules:
        if self._schedules is None or self._schedules[0] != seed:
            self._schedules = seed, self._aims.schedules(seed)
        return self._schedules[1]

    def cases(self, seed: int, count: int) -> Iterator[Case]:
        """Yield the first ``count`` cases of a seed."""
        for number in range((count + CHUNK - 1) // CHUNK):
            yield from self.chunk(seed, number)[: count - number * CHUNK]

    def case(self, draw: Draw, case_id: str) -> Case:
        """Return one case, aimed or not, whose choices ``draw`` makes."""
        aimed = self._aims.places and draw.below(10) < _AIMED
        case = self._aimed(draw, self._aims.any_goal(draw), case_id) if aimed else self._unaimed(draw, case_id)
        return self._without_world(case)

    def _unaimed(self, draw: Draw, case_id: str, turn: tuple[int, int] | None = None) -> Case:
        """Return a case without an aim: a changed launch, or one with few arguments, or one with many (``wild``).

        ``turn`` is the seed and the number of the case among those without an aim; by it the decks deal the machine
        and the architecture. If it is None, both are drawn at random.
        """
        kind = draw.below(100)
        if kind < 15 and self._launches:
            return self._neighbour(draw, case_id)
        wild = kind >= 70
        args = self._args(draw, 4 + draw.below(9) if wild else draw.below(5))
        env = self._environment(draw, 1 + draw.below(3)) if draw.chance(60 if wild else 15) else {}
        real = self._machine_deck.card(*turn) if turn else None
        architecture = self._architecture_deck.card(*turn) if turn and self._domains.architectures else None
        hardware, model = draw_machine(draw, real), self._models.draw(draw, architecture)
        return Case(id=case_id, args=args, hardware=hardware, model=model, env=env)

    def _aimed(self, draw: Draw, goal: Goal, case_id: str) -> Case:
        """Return a case with the inputs of a goal, and sometimes a few more."""
        drawn = self._aims.draw(draw, goal)
        args, env = drawn.args, drawn.env
        for name, value in self._args(draw, draw.below(3) + 1 if draw.chance(25) else 0).items():
            if name not in args and name not in drawn.silent:
                args[name] = value
        if draw.chance(10):
            for name, text in self._environment(draw, 1).items():
                if name not in env and name not in drawn.silent:
                    env[name] = text
        if draw.chance(_SIBLINGS):
            self._add_siblings(draw, args, (*args, *drawn.silent))
        return Case(id=case_id, args=args, hardware=drawn.hardware, model=drawn.model, env=env)

    def _add_siblings(self, draw: Draw, args: dict[str, Any], named: Sequence[str]) -> None:
        """Choose one of the arguments ``named`` and set its siblings, except those that are named as well.

        ``named`` are the arguments that the case sets, or leaves out on purpose.
        """
        having = [name for name in named if name in self._domains.siblings]
        if having:
            for name in self._domains.siblings[draw.pick(having)]:
                if name not in named:
                    args[name] = self._domains.args[name].drawn(draw)

    def _neighbour(self, draw: Draw, case_id: str) -> Case:
        """Return a launch with up to two arguments dropped and up to two set.

        It may also get another machine or model, or a variable.
        """
        base = draw.pick(self._launches)
        args = dict(base.args)
        for _ in range(draw.below(3)):
            if args:
                del args[draw.pick(tuple(args))]
        args |= self._args(draw, draw.below(3))
        hardware = draw_machine(draw) if draw.chance(40) else base.hardware
        model = self._models.draw(draw) if draw.chance(30) else base.model
        env = base.env | (self._environment(draw, 1) if draw.chance(20) else {})
        return Case(id=case_id, args=args, hardware=hardware, model=model, env=env)

    def _args(self, draw: Draw, count: int) -> dict[str, Any]:
        domains, pool = self._domains.args, self._domains.pool
        args: dict[str, Any] = {}
        for _ in range(count if pool else 0):
            name = draw.pick(pool)
            args[name] = domains[name].drawn(draw)
        return args

    def _environment(self, draw: Draw, count: int) -> dict[str, str]:
        variables = tuple(self._domains.environment)
        if not variables:
            return {}
        names = [draw.pick(variables) for _ in range(count)]
        return {name: draw.pick(self._domains.environment[name]) for name in names}
