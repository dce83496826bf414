"""Makes the cases of a campaign's covering array, one from each row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

from harness.generate.chance.draw import Draw, SeededDraw, shuffled
from harness.generate.chance.streams import Stream
from harness.generate.covering.arrays import covering_rows
from harness.generate.covering.parameters import Parameter, parameters_of
from harness.generate.values.domains import Domains
from harness.generate.values.inputs import ARCHITECTURE, MACHINE
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model

# The most inputs that a row sets. With fewer, a row is refused less often, but there are more rows: 1,300 for legacy
# against declarative with 10, 1,900 with 8, 3,300 with 6. All rows should fit into 20,000 cases, which have room for
# 2,000.
_MOST_SET: Final = 10


class Rows:
    """Makes the cases of a campaign's covering array. The array is computed when its first case is needed."""

    def __init__(self, domains: Domains) -> None:
        self._domains = domains
        self._order: tuple[int, Sequence[int]] | None = None

    @cached_property
    def parameters(self) -> list[Parameter]:
        """The parameters of the array."""
        return parameters_of(self._domains)

    @cached_property
    def rows(self) -> list[tuple[int, ...]]:
        """The rows: each has the number of an option for every parameter."""
        return covering_rows([parameter.factor for parameter in self.parameters], _MOST_SET)

    def case(self, seed: int, number: int, draw: Draw, case_id: str) -> Case | None:
        """Return the case of row ``number`` in the shuffled order of ``seed``, None if there are no more rows.

        An option is a group of values; ``draw`` picks one of them.
        """
        if number >= len(self.rows):
            return None
        row = self.rows[self._shuffled(seed)[number]]
        args: dict[str, Any] = {}
        env: dict[str, str] = {}
        attributes: dict[str, Any] = {}
        hardware = Hardware()
        for parameter, option in zip(self.parameters, row, strict=True):
            if parameter.silent and not option:
                continue
            (kind, name), value = parameter.key, draw.pick(parameter.options[option])
            if parameter.key == MACHINE:
                hardware = value
            elif parameter.key == ARCHITECTURE:
                attributes[name] = [value]
            else:
                {"arg": args, "env": env, "model": attributes}[kind][name] = value
        return Case(id=case_id, args=args, hardware=hardware, model=Model(**attributes), env=env)

    def _shuffled(self, seed: int) -> Sequence[int]:
        if self._order is None or self._order[0] != seed:
            self._order = seed, shuffled(range(len(self.rows)), SeededDraw(seed, Stream.ROWS))
        return self._order[1]
