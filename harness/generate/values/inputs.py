"""The options of every input of a case, and which of them meet a condition.

An input is an argument, a variable, the machine, or an attribute of the model. It has a fixed list of options. A
condition on it is stored as the set of options that meet it, and this set as a bit mask in an integer. The options
that meet several conditions are then one ``&`` of their masks. Sets of Python objects would be too slow, because a
case is made in about 10 µs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from harness.generate.values.domains import Domain, Domains
from harness.generate.values.machines import machines
from harness.generate.values.models import MODEL_PARTS, declared_quantizations
from harness.subjects.description import Condition, Variable
from harness.world.probes import HARDWARE_PROBES

InputKey = tuple[str, str]
"""Kind and name of an input: ``("arg", "page_size")``, ``("env", "SGLANG_X")``, ``("model", "attention")``."""
Mask = int
"""A set of options of one input: bit ``n`` is set if option number ``n`` is in the set."""


def _is_multiple(one: Any, other: Any) -> bool:
    return bool(one % other == 0)


RELATIONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "same": operator.eq,
    "multiple": _is_multiple,
    "under": operator.lt,
    "upto": operator.le,
}
"""The tests of conditions that relate two inputs, by the condition's operation: each gets the values of both."""


def related(relation: str, one: Any, other: Any) -> bool | None:
    """Return whether two values are in a relation; None if they cannot be compared."""
    try:
        return RELATIONS[relation](one, other)
    except (TypeError, ZeroDivisionError):
        return None


def bits(mask: Mask) -> Iterator[int]:
    """Yield the numbers of the bits that are set, from the lowest."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class _Absent:
    """The type of `ABSENT`, the option to leave an input out of the case."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
MACHINE: Final[InputKey] = ("machine", "")
ARCHITECTURE: Final[InputKey] = ("model", "architectures")

# Attributes of the model that have another name in sglang's source: from sglang's name to the one in a case.
_MODEL_NAMES: Final = {
    "quantization": "detected_quantization",
    "attention_arch": "attention",
    "nvfp4_moe_meta": "nvfp4_moe",
}
# Functions of sglang that return an attribute of the model, and the path to it in a case's model.
_MODEL_CALLS: Final = {
    "get_quantization_config": "quantization_config.quant_method",
    "get_num_kv_heads": "num_key_value_heads",
    "has_fp8_weights_in_checkpoint": "fp8_weights",
    "check_gguf_file": "gguf",
}
# Functions of sglang that return the scheme of a URL, and the argument that holds the URL.
_URL_CALLS: Final = {"parse_connector_type": "model_path"}


class Inputs:
    """The inputs of a campaign with their options, and the masks of conditions on them."""

    def __init__(self, domains: Domains) -> None:
        self._domains = domains
        self._options: dict[InputKey, list[Any]] = {}
        # The rest are caches: most cases use the same few masks.
        self._left: dict[tuple[InputKey, Mask], tuple[Any, ...]] = {}
        self._weighted: dict[tuple[InputKey, Mask], tuple[Any, ...]] = {}
        self._named: dict[tuple[str, str], tuple[InputKey, Callable[[Any], Any]] | None] = {}
        self._beside: dict[tuple[InputKey, Mask], Mask] = {}
        self._probed: dict[str, list[Any]] = {}
        self._machines: dict[tuple[str, Mask], Mask] = {}
        for name, domain in domains.args.items():
            self._options["arg", name] = [ABSENT, *domain.values]
        for name, texts in domains.environment.items():
            self._options["env", name] = [ABSENT, *texts]
        self._options[MACHINE] = list(machines())
        # Such an argument can have any value that a machine gives; `machines_for` looks for these among the options.
        for name, probe in domains.from_machine.items():
            if name in domains.args:
                for value in self._probe(probe):
                    _add(self._options["arg", name], value)
        self._options[ARCHITECTURE] = list(domains.architectures)
        for name, values in MODEL_PARTS.items():
            self._options["model", name] = list(values)
        quantized = declared_quantizations(domains.quantizations)
        self._options["model", "quantization_config"] = [None, {}, *quantized]
        methods = [option["quant_method"] for option in quantized]
        self._options["model", "detected_quantization"] = [None, *dict.fromkeys(methods)]

    def widen(self, conditions: Iterable[Condition]) -> None:
        """Add the options that occur only in conditions. Masks that were made before do not have them."""
        for condition in conditions:
            if condition.kind == "arg" and condition.operation == "is" and None in condition.values:
                domain = self._domains.args.get(condition.name)
                # An absent argument has its default, so None needs an option of its own only if the default is
                # another value.
                if domain is not None and domain.nullable and domain.default is not None:
                    _add(self._options["arg", condition.name], None)
            if condition.kind == "model" and condition.operation in ("is", "contains"):
                self._widen_model(condition)
            if condition.kind == "call" and condition.name in _URL_CALLS and condition.operation == "is":
                # The argument with the URL is a free text, for which there may be no domain.
                options = self._options.setdefault(("arg", _URL_CALLS[condition.name]), [ABSENT])
                for scheme in condition.values:
                    _add(options, f"{scheme}://there")

    def _widen_model(self, condition: Condition) -> None:
        if condition.name == "architectures.0" and condition.operation == "contains":
            # The code looks for a part of the name. A longer name shows a change that makes it compare the whole
            # name.
            for value in condition.values:
                _add(self._options[ARCHITECTURE], f"{value}NextN")
        name = _MODEL_NAMES.get(condition.name, condition.name)
        options = self._options.get(("model", name))
        if options is None or name in ("quantization_config", "attention", "architectures"):
            return
        # A value of a type that no option has is not one that a case can give this attribute.
        kinds = {type(option) for option in options if option is not None}
        for value in condition.values:
            if type(value) in kinds and condition.operation == "is" and not isinstance(value, bool):
                _add(options, value)

    def input_of(self, condition: Condition) -> tuple[InputKey, Callable[[Any], Any]] | None:
        """Return the input that a condition is about, and a function from an option to the value that is tested.

        For `MACHINE` the function gets the number of a machine in `machines`. None is returned for a condition on
        something that is no part of a case.
        """
        name, _, path = condition.name.partition(".")
        if condition.kind == "arg":
            return self._argument(name, path)
        if condition.kind == "env":
            return self._variable(name)
        if condition.kind == "call" and name in HARDWARE_PROBES:
            return MACHINE, lambda index: _item(self._probe(name)[index], path)
        if condition.kind == "call" and ("arg", _URL_CALLS.get(name, "")) in self._options:
            return ("arg", _URL_CALLS[name]), lambda url: "" if url is ABSENT else url.partition("://")[0]
        if condition.kind == "call":
            if condition.name not in _MODEL_CALLS:
                return None
            name, _, path = _MODEL_CALLS[condition.name].partition(".")
        elif name not in _MODEL_NAMES and ("model", name) not in self._options:
            # The first name is the object that has the attribute: ``hf_config.architectures``.
            name, _, path = path.partition(".")
        name = _MODEL_NAMES.get(name, name)
        if name == "architectures":
            return ARCHITECTURE, lambda option: option if path == "0" else [option]
        if ("model", name) not in self._options:
            return None
        return ("model", name), lambda option: _item(_as_read(name, option), path)

    def input(self, kind: str, name: str) -> tuple[InputKey, Callable[[Any], Any]] | None:
        """Return what `input_of` returns for any condition of that kind and name; the answer is cached."""
        if (kind, name) not in self._named:
            self._named[kind, name] = self.input_of(Condition(kind, name, "true", (), True))  # type: ignore[arg-type]
        return self._named[kind, name]

    def _argument(self, name: str, path: str) -> tuple[InputKey, Callable[[Any], Any]] | None:
        domain = self._domains.args.get(name)
        if domain is None:
            return None
        return ("arg", name), lambda option: _argument_value(domain, option, path)

    def _variable(self, name: str) -> tuple[InputKey, Callable[[Any], Any]] | None:
        if name not in self._domains.environment:
            return None
        variable = self._domains.variables.get(name, Variable(type="str"))
        return ("env", name), lambda option: _variable_value(variable, option)

    def _probe(self, name: str) -> list[Any]:
        if name not in self._probed:
            probe = HARDWARE_PROBES[name]
            self._probed[name] = [probe(machine) for machine in machines()]
        return self._probed[name]

    def mask(self, condition: Condition) -> tuple[InputKey, Mask] | None:
        """Return the input that a condition is about, and the mask of the options that meet the condition.

        None if it is about no input of a case (see `input_of`), or if it relates two inputs.
        """
        found = self.input_of(condition)
        if found is None or condition.operation in RELATIONS:
            return None
        key, read = found
        options: Sequence[Any] = range(len(machines())) if key == MACHINE else self._options[key]
        values = tuple(_hashable(value) for value in condition.values)
        mask = 0
        for index, option in enumerate(options):
            if condition.operation == "set":
                holds: bool | None = option is not ABSENT
            else:
                holds = meets(read(option), condition.operation, values)
            if holds is condition.wanted:
                mask |= 1 << index
        return key, mask

    def test(self, condition: Condition) -> tuple[InputKey, Callable[[Any], bool | None]] | None:
        """Return the input that a condition is about, and a function that tests whether a value meets the condition.

        None if `mask` would return None. The function ignores ``wanted``. It takes any value that a case can have,
        not only the options. For `MACHINE` it takes the machine itself, not its number.
        """
        found = self.input_of(condition)
        if found is None or condition.operation in RELATIONS:
            return None
        key, read = found
        if key == MACHINE:
            name, _, path = condition.name.partition(".")
            probe = HARDWARE_PROBES[name]

            def read(machine: Any) -> Any:
                return _item(probe(machine), path)

        if condition.operation == "set":
            return key, lambda value: value is not ABSENT
        values = tuple(_hashable(value) for value in condition.values)
        return key, lambda value: meets(read(value), condition.operation, values)

    def full(self, key: InputKey) -> Mask:
        """Return the mask of all options of an input."""
        return (1 << len(self._options[key])) - 1

    def left(self, key: InputKey, mask: Mask) -> tuple[Any, ...]:
        """Return the options in ``mask``."""
        pair = (key, mask)
        found = self._left.get(pair)
        if found is None:
            options = self._options[key]
            found = self._left[pair] = tuple(option for index, option in enumerate(options) if mask >> index & 1)
        return found

    def numbered(self, key: InputKey, mask: Mask) -> list[tuple[int, Any]]:
        """Return the options in ``mask`` with their numbers."""
        return [(index, option) for index, option in enumerate(self._options[key]) if mask >> index & 1]

    def beside(self, key: InputKey, mask: Mask) -> Mask:
        """Return the mask of the integer options that differ by one from an option in ``mask`` and are not in it."""
        pair = (key, mask)
        if pair not in self._beside:
            near = {value + step for _, value in self.numbered(key, mask) if type(value) is int for step in (-1, 1)}
            options = enumerate(self._options[key])
            found = sum(1 << index for index, value in options if type(value) is int and value in near)
            self._beside[pair] = found & ~mask
        return self._beside[pair]

    def weighted(self, key: InputKey, mask: Mask) -> tuple[Any, ...]:
        """Return the options in ``mask``, with `ABSENT` (if it is one) as often as all others together.

        So half of the draws leave the input out.
        """
        pair = (key, mask)
        found = self._weighted.get(pair)
        if found is None:
            found = self.left(key, mask)
            if found[0] is ABSENT:
                found = (ABSENT,) * (len(found) - 2) + found
            self._weighted[pair] = found
        return found

    def machines_for(self, name: str, mask: Mask) -> Mask | None:
        """Return the mask of the machines that give the argument ``name`` a value in ``mask``.

        None for an argument that does not get its value from the machine.
        """
        probe = self._domains.from_machine.get(name)
        if probe is None:
            return None
        pair = (name, mask)
        if pair not in self._machines:
            wanted = self.left(("arg", name), mask)
            given = enumerate(self._probe(probe))
            self._machines[pair] = sum(1 << index for index, value in given if value in wanted)
        return self._machines[pair]


def meets(value: Any, operation: str, values: Sequence[Any]) -> bool | None:
    """Return whether a value meets a condition; None if it cannot be compared, such as a text with a number."""
    if operation == "true":
        return bool(value)
    if operation == "is":
        return any(type(value) is type(other) and value == other for other in values)
    if operation == "contains":
        return values[0] in value if isinstance(value, str | list | tuple | dict) else None
    try:
        if operation == "<":
            return bool(value < values[0])
        if operation == "<=":
            return bool(value <= values[0])
        if operation == ">":
            return bool(value > values[0])
        if operation == ">=":
            return bool(value >= values[0])
    except TypeError:
        pass
    return None


def _argument_value(domain: Domain, option: Any, path: str) -> Any:
    if option is ABSENT:
        return _item(domain.default, path)
    found = _item(option, path)
    # An item that a nested value does not have keeps its default.
    return _item(domain.default, path) if path and found is None else found


def _variable_value(variable: Variable, option: Any) -> Any:
    if option is ABSENT:
        return variable.default
    try:
        if variable.type == "bool":
            return option.lower() in ("true", "1", "yes", "y")
        if variable.type == "int":
            return int(option)
        if variable.type == "float":
            return float(option)
    except ValueError:
        return variable.default
    return option


def _as_read(name: str, option: Any) -> Any:
    """Return an option of a model's attribute in the form that sglang's own objects have."""
    if name == "attention":
        return "AttentionArch.MLA" if option == "mla" else "AttentionArch.MHA"
    if name == "nvfp4_moe":
        return {"": ""} if option else None
    return option


def _item(value: Any, path: str) -> Any:
    """Return the item of a nested value at ``path`` (keys and indices with dots between), None if there is none."""
    for step in path.split(".") if path else ():
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list | tuple) and step.lstrip("-").isdecimal():
            value = value[int(step)] if -len(value) <= int(step) < len(value) else None
        else:
            return None
    return value


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _add(options: list[Any], value: Any) -> None:
    if not any(type(value) is type(known) and value == known for known in options):
        options.append(value)
