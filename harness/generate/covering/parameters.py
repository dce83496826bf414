"""What the interactions of a campaign are counted over: its inputs, each with the few options that are told apart.

Two values are one option where no condition of the two resolutions tells them apart: of architectures, machines and
long lists of choices a few groups are left. Nothing is listed here: it all comes from the domains.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from harness.generate.covering.arrays import Factor
from harness.generate.values.domains import Domains
from harness.generate.values.inputs import ABSENT, ARCHITECTURE, MACHINE, Inputs, Slot
from harness.generate.values.models import MODEL_PARTS
from harness.world.model import Model
from harness.world.profiles import hardware_profiles

# The rows of an array are at least the product of the two largest parameters: with so many options, 20,000 cases hold
# them all (one case in ten is a row). A slice has about 120 parameters, a whole construction several hundred.
MOST_PARAMETERS: Final = 128
MOST_OPTIONS: Final = 40
_PLAIN_MODEL: Final = Model()
_MODEL_SLOTS: Final = (*MODEL_PARTS, "quantization_config", "detected_quantization")

Test = Callable[[Any], bool | None]


class Parameter(NamedTuple):
    """An input and its options, each a group of values that no condition tells apart.

    With ``silent`` the first option is to leave the input out (of a model: as a plain one has it). ``group`` returns
    the group of any value of the input, as ``options`` has them: its number, None for a group that is not counted.
    """

    slot: Slot
    options: tuple[tuple[Any, ...], ...]
    silent: bool
    group: Callable[[Any], int | None]

    @property
    def factor(self) -> Factor:
        """What a covering array has to know of it."""
        return Factor(len(self.options), self.silent)


def parameters_of(domains: Domains) -> list[Parameter]:
    """Return the parameters of a campaign: those that most conditions name, in a fixed order.

    An input whose values nothing tells apart is no parameter.
    """
    inputs = Inputs(domains)
    inputs.widen(domains.aims.conditions)
    tests: dict[Slot, dict[str, Test]] = defaultdict(dict)
    for condition in domains.aims.conditions:
        found = inputs.test(condition)
        if found is not None:
            slot, test = found
            tests[slot].setdefault(
                repr((condition.name, condition.kind, condition.operation, condition.values)), test
            )
    slots = [MACHINE] if "hardware" in domains.takes else []
    slots += [ARCHITECTURE] if "model" in domains.takes else []
    slots += [("arg", name) for name in domains.args]
    slots += [("env", name) for name in domains.environment]
    slots += [("model", name) for name in _MODEL_SLOTS if "model" in domains.takes]
    made = [_parameter(slot, domains, inputs, list(tests[slot].values())) for slot in slots]
    found_ones = [parameter for parameter in made if len(parameter.options) > 1]
    found_ones.sort(key=lambda parameter: -len(tests[parameter.slot]))
    return found_ones[:MOST_PARAMETERS]


def _parameter(slot: Slot, domains: Domains, inputs: Inputs, tests: Sequence[Test]) -> Parameter:
    kind, name = slot
    compared = {_key(value) for value in domains.args[name].compared} if kind == "arg" else set()

    def told_by(value: Any) -> object:
        """Return what tells the value from others: equal for two values of one group."""
        if value is ABSENT:
            return ABSENT
        # A text of a variable means what the code makes of it, which conditions say only in part.
        own = _key(value) if kind == "env" or _key(value) in compared else None
        return tuple(test(value) for test in tests), own

    values: Sequence[Any] = hardware_profiles() if slot == MACHINE else inputs.left(slot, inputs.full(slot))
    silent = kind in ("arg", "env") or slot not in (MACHINE, ARCHITECTURE)
    groups: dict[object, list[Any]] = {}
    if kind == "model" and silent:
        groups[told_by(getattr(_PLAIN_MODEL, name))] = []
    for value in values:
        groups.setdefault(told_by(value), []).append(value)
    kept = list(groups)[:MOST_OPTIONS]
    numbers = {told: number for number, told in enumerate(kept)}
    return Parameter(
        slot, tuple(tuple(groups[told]) for told in kept), silent, lambda value: numbers.get(told_by(value))
    )


def _key(value: Any) -> str:
    return f"{type(value).__name__}:{value!r}"
