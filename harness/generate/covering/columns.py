"""Records which options the cases of a chunk have: a row of bits for each case, a column of bits for each option.

Both are integers used as bit masks, so that one operation finds all cases of a chunk that have two options, or all
options of two cases. A loop over the pairs would take 6,400 steps for each case with 114 parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

from harness.generate.covering.arrays import first_options
from harness.generate.covering.parameters import Parameter
from harness.generate.values.inputs import ARCHITECTURE, MACHINE
from harness.world.case import Case
from harness.world.model import Model

# The option of this many values of each parameter is remembered. Only machines put together from parts are more.
_REMEMBERED: Final = 4096
_PLAIN: Final = Model()


class CaseTable(NamedTuple):
    """The options of the cases of one chunk, as bit masks.

    A row has the options of a case, a column has the cases of an option.
    """

    rows: list[int]
    columns: list[int]


class CaseColumns:
    """Makes the table of each chunk. Options are numbered through all parameters, in the order of these."""

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._total = sum(len(parameter.options) for parameter in parameters)
        firsts = first_options([parameter.factor for parameter in parameters])
        # The values outside the counted options share one option for each parameter, numbered after all counted ones.
        made = {
            parameter.key: _Options(first, self._total + number, parameter)
            for number, (first, parameter) in enumerate(zip(firsts, parameters, strict=True))
        }
        # Of each input that can be left out: the option to do so, and all its other options.
        self._silent = [
            (options.first, (*range(options.first + 1, options.end), options.other))
            for options in made.values()
            if options.silent
        ]
        # The row of a case that leaves out everything.
        self._silence = sum(1 << first for first, _ in self._silent)
        self._args = {name: options for (kind, name), options in made.items() if kind == "arg"}
        self._env = {name: options for (kind, name), options in made.items() if kind == "env"}
        self._machine = made.get(MACHINE)
        self._architecture = made.get(ARCHITECTURE)
        attributes = {name: options for (kind, name), options in made.items() if kind == "model" and options.silent}
        self._model = tuple(attributes.values())
        # The architectures are read twice because attrgetter returns a tuple only for two attributes or more.
        self._read: Callable[[Any], tuple[Any, ...]] = attrgetter(*attributes, "architectures", "architectures")
        self._plain = self._read(_PLAIN)

    def of(self, cases: Sequence[Case]) -> CaseTable:
        """Return the table of some cases."""
        rows = []
        # Space for the options that are not counted: of the silent parameters, of the machine, of the architecture.
        columns = [0] * (self._total + len(self._silent) + 2)
        bit = 1
        for case in cases:
            row = self._silence
            for known, given in ((self._args, case.args), (self._env, case.env)):
                row = _note(row, columns, known, given, bit)
            values = self._read(case.model)
            if values != self._plain:
                # The architectures at the end of both have no options here.
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
            others_given = 0
            for number in others:
                others_given |= columns[number]
            # All other cases leave the input out, or set an attribute to a value that counts as left out.
            columns[first] |= every & ~others_given
        return CaseTable(rows, columns[: self._total])


def _note(row: int, columns: list[int], known: Mapping[str, _Options], given: Mapping[str, Any], bit: int) -> int:
    """Add a case's values of some inputs to the columns, and return its row with them."""
    for name, value in given.items():
        options = known.get(name)
        if options is not None:
            number, change = options.of(value)
            columns[number] |= bit
            row ^= change
    return row


class _Options:
    """The options of one parameter: from ``first`` up to ``end``, and ``other`` for values that are not counted."""

    def __init__(self, first: int, other: int, parameter: Parameter) -> None:
        self.first = first
        self.end = first + len(parameter.options)
        self.other = other
        self.silent = parameter.silent
        self._group = parameter.group
        self._known: dict[object, tuple[int, int]] = {}

    def of(self, value: Any) -> tuple[int, int]:
        """Return the number of a value's option, and the bits to flip for it in a row that leaves the input out."""
        # The class is part of the key because True == 1: one would find the option of the other.
        key: object = (value.__class__, value)
        try:
            return self._known[key]
        except KeyError:
            pass
        except TypeError:
            # Lists and dicts cannot be hashed; there are few of them.
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
