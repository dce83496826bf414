"""The parameters of a campaign's covering array: its inputs, each with a few options.

An option is a group of values that no condition of the two resolutions tells apart. So the many architectures,
machines and members of long lists become a few groups. All of that is taken from the domains; nothing is listed here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from harness.generate.covering.arrays import Factor
from harness.generate.values.domains import Domains
from harness.generate.values.inputs import ABSENT, ARCHITECTURE, MACHINE, InputKey, Inputs
from harness.generate.values.models import MODEL_PARTS
from harness.world.model import Model
from harness.world.profiles import hardware_profiles

# An array has at least as many rows as the product of its two largest numbers of options. With at most 40 options,
# 20,000 cases have room for all rows, since one case in ten is a row. A slice has about 120 parameters, a whole
# construction hundreds.
MOST_PARAMETERS: Final = 128
MOST_OPTIONS: Final = 40
_PLAIN_MODEL: Final = Model()
_MODEL_ATTRIBUTES: Final = (*MODEL_PARTS, "quantization_config", "detected_quantization")

Test = Callable[[Any], bool | None]


class Parameter(NamedTuple):
    """An input and its options.

    ``options`` has the values of each option. With ``silent``, the first option is to leave the input out, or an
    attribute of the model as it is in a plain model. ``group`` returns the number of the option that a value of the
    input belongs to, None if that option is not counted.
    """

    key: InputKey
    options: tuple[tuple[Any, ...], ...]
    silent: bool
    group: Callable[[Any], int | None]

    @property
    def factor(self) -> Factor:
        """What a covering array needs to know of the parameter."""
        return Factor(len(self.options), self.silent)


def parameters_of(domains: Domains) -> list[Parameter]:
    """Return the parameters of a campaign: those with the most conditions, at most `MOST_PARAMETERS`.

    Their order is fixed. An input with a single option is left out, because it cannot vary.
    """
    inputs = Inputs(domains)
    inputs.widen(domains.aims.conditions)
    tests: dict[InputKey, dict[str, Test]] = defaultdict(dict)
    for condition in domains.aims.conditions:
        found = inputs.test(condition)
        if found is not None:
            key, test = found
            tests[key].setdefault(repr((condition.name, condition.kind, condition.operation, condition.values)), test)
    keys = [MACHINE] if "hardware" in domains.takes else []
    keys += [ARCHITECTURE] if "model" in domains.takes else []
    keys += [("arg", name) for name in domains.args]
    keys += [("env", name) for name in domains.environment]
    keys += [("model", name) for name in _MODEL_ATTRIBUTES if "model" in domains.takes]
    made = [_parameter(key, domains, inputs, list(tests[key].values())) for key in keys]
    found_ones = [parameter for parameter in made if len(parameter.options) > 1]
    found_ones.sort(key=lambda parameter: -len(tests[parameter.key]))
    return found_ones[:MOST_PARAMETERS]


def _parameter(key: InputKey, domains: Domains, inputs: Inputs, tests: Sequence[Test]) -> Parameter:
    kind, name = key
    compared = {_typed(value) for value in domains.args[name].compared} if kind == "arg" else set()

    def signature(value: Any) -> object:
        """Return a key that is equal for two values of one group: the result of every test on the value.

        A value that the code compares the argument with is a group of its own.
        """
        if value is ABSENT:
            return ABSENT
        # Each text of a variable is a group of its own, too: conditions know only what the code parses from it.
        own = _typed(value) if kind == "env" or _typed(value) in compared else None
        return tuple(test(value) for test in tests), own

    values: Sequence[Any] = hardware_profiles() if key == MACHINE else inputs.left(key, inputs.full(key))
    silent = kind in ("arg", "env") or key not in (MACHINE, ARCHITECTURE)
    groups: dict[object, list[Any]] = {}
    if kind == "model" and silent:
        # The group of the plain model's value is the first option, the one to leave the attribute out.
        groups[signature(getattr(_PLAIN_MODEL, name))] = []
    for value in values:
        groups.setdefault(signature(value), []).append(value)
    kept = list(groups)[:MOST_OPTIONS]
    numbers = {found: number for number, found in enumerate(kept)}
    return Parameter(
        key, tuple(tuple(groups[found]) for found in kept), silent, lambda value: numbers.get(signature(value))
    )


def _typed(value: Any) -> str:
    """Return a text that tells True from 1."""
    return f"{type(value).__name__}:{value!r}"
