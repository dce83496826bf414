"""Which options of which parameters the cases of a chunk have: a row for each case, a column for each option."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

from harness.generate.covering.arrays import first_options
from harness.generate.covering.parameters import Parameter
from harness.generate.values.inputs import ARCHITECTURE, MACHINE
from harness.world.case import Case
from harness.world.model import Model

# Values whose option is remembered, of each parameter; there are few but of machines put together from parts.
_REMEMBERED: Final = 4096
_PLAIN: Final = Model()


class Table(NamedTuple):
    """The options of the cases of one chunk, as bit masks.

    A row has the bits of the options that a case has, a column those of the cases that have an option.
    """

    rows: list[int]
    columns: list[int]


class Columns:
    """Makes tables of chunks. Options are numbered through all parameters, in their order."""

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._total = sum(len(parameter.options) for parameter in parameters)
        firsts = first_options([parameter.factor for parameter in parameters])
        # Behind all options stands one for each parameter that is for the values which are not counted.
        made = {
            parameter.slot: _Options(first, self._total + number, parameter)
            for number, (first, parameter) in enumerate(zip(firsts, parameters, strict=True))
        }
        self._silent = [
            (options.first, (*range(options.first + 1, options.end), options.other))
            for options in made.values()
            if options.silent
        ]
        self._silence = sum(1 << first for first, _ in self._silent)
        self._args = {name: options for (kind, name), options in made.items() if kind == "arg"}
        self._env = {name: options for (kind, name), options in made.items() if kind == "env"}
        self._machine = made.get(MACHINE)
        self._architecture = made.get(ARCHITECTURE)
        attributes = {name: options for (kind, name), options in made.items() if kind == "model" and options.silent}
        self._model = tuple(attributes.values())
        # An attribute more, since of one alone no tuple is made.
        self._read: Callable[[Any], tuple[Any, ...]] = attrgetter(*attributes, "architectures", "architectures")
        self._plain = self._read(_PLAIN)

    def of(self, cases: Sequence[Case]) -> Table:
        """Return the table of some cases."""
        rows = []
        columns = [0] * (self._total + len(self._silent) + 2)
        bit = 1
        for case in cases:
            row = self._silence
            for known, given in ((self._args, case.args), (self._env, case.env)):
                row = _note(row, columns, known, given, bit)
            values = self._read(case.model)
            if values != self._plain:
                for options, value, plain in zip(self._model, values, self._plain, strict=False):
                    if value != plain:
                        number, change = options.of(value)
                        columns[number] |= bit
                        row ^= change
            if self._machine is not None:
                number, change = self._machine.of(case.hardware)
                columns[number] |= bit
                row ^= change
            if self._architecture is not None:
                number, change = self._architecture.of(values[-1][0])
                columns[number] |= bit
                row ^= change
            rows.append(row)
            bit <<= 1
        every = bit - 1
        for first, others in self._silent:
            said = 0
            for number in others:
                said |= columns[number]
            # A model's attribute can be said to be what it is anyway.
            columns[first] |= every & ~said
        return Table(rows, columns[: self._total])


def _note(row: int, columns: list[int], known: Mapping[str, _Options], given: Mapping[str, Any], bit: int) -> int:
    """Note what a case says of some inputs, and return its row with it."""
    for name, value in given.items():
        options = known.get(name)
        if options is not None:
            number, change = options.of(value)
            columns[number] |= bit
            row ^= change
    return row


class _Options:
    """The options of one parameter, from the number ``first`` up to ``end``; ``other`` is for what is not counted."""

    def __init__(self, first: int, other: int, parameter: Parameter) -> None:
        self.first = first
        self.end = first + len(parameter.options)
        self.other = other
        self.silent = parameter.silent
        self._group = parameter.group
        self._known: dict[object, tuple[int, int]] = {}

    def of(self, value: Any) -> tuple[int, int]:
        """Return the number of a value's option, and what to change in a row that leaves the input out."""
        # True and 1 are two values.
        key: object = (value.__class__, value)
        try:
            return self._known[key]
        except KeyError:
            pass
        except TypeError:
            # Lists and objects, which are few.
            key = repr(value)
            if key in self._known:
                return self._known[key]
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        group = self._group(value)
        number = self.other if group is None else self.first + group
        change = 0 if group is None else 1 << number
        if self.silent:
            change ^= 1 << self.first
        self._known[key] = number, change
        return number, change
