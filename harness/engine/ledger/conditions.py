"""Conditions on a case and its two outcomes, as data: a path, an operation, and the values to compare with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from harness.common.errors import UsageError, hint
from harness.common.wording import brief
from harness.world.case import Case, Outcome
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.probes import checkpoint_answers, probe_answers

Operation = Literal["is", "not", "contains", "at_least", "below", "set"]

_OPERATIONS: Final = ("not", "contains", "at_least", "below", "set")
HEADS: Final = ("args", "env", "hardware", "model", "probe", "checkpoint", "first", "second")
"""The first parts that a path can have."""
# What a path can name of an outcome besides its fields and variables.
_SIDE_KEYS: Final = ("error", "message", "origin")


class LedgerCondition(msgspec.Struct, frozen=True, kw_only=True):
    """A condition on the value at ``path``.

    ``operation`` says when it holds:

    - ``is``: the value equals one of ``values``, in type too.
    - ``not``: the value equals none of them.
    - ``contains``: the value is a text that contains one of them, or a list with such a text.
    - ``at_least``, ``below``: the value is a number that is at least, or is below, the one number in ``values``.
    - ``set``: ``values`` has one truth value. If it is true, the value must be there and not null; if it is
      false, the value must be missing or null.
    """

    path: str
    operation: Operation
    values: tuple[Any, ...]

    def holds(self, facts: Mapping[str, Any]) -> bool:
        """Whether the condition holds for ``facts``, which `facts_of` returned."""
        value = facts.get(self.path)
        if self.operation == "set":
            return (value is not None) is self.values[0]
        if self.operation == "contains":
            items = value if isinstance(value, list | tuple) else [value]
            return any(isinstance(item, str) and text in item for item in items for text in self.values)
        if self.operation in ("at_least", "below"):
            if not isinstance(value, int | float) or isinstance(value, bool):
                return False
            bound = self.values[0]
            return bool(value >= bound if self.operation == "at_least" else value < bound)
        equal = any(type(value) is type(wanted) and value == wanted for wanted in self.values)
        return equal == (self.operation == "is")


Conditions = tuple[LedgerCondition, ...]


def holds(conditions: Conditions, facts: Mapping[str, Any]) -> bool:
    """Whether all conditions hold."""
    return all(condition.holds(facts) for condition in conditions)


def facts_of(case: Case, first: Outcome, second: Outcome) -> dict[str, Any]:
    """Return every value that a condition can compare, by its path."""
    facts: dict[str, Any] = {f"args.{name}": value for name, value in case.args.items()}
    facts |= {f"env.{name}": value for name, value in case.env.items()}
    facts |= {f"hardware.{name}": getattr(case.hardware, name) for name in Hardware.__struct_fields__}
    facts |= {f"model.{name}": getattr(case.model, name) for name in Model.__struct_fields__}
    facts |= {f"probe.{name}": value for name, value in probe_answers(case.hardware).items()}
    facts |= {f"checkpoint.{name}": value for name, value in checkpoint_answers(case.model).items()}
    for side, outcome in (("first", first), ("second", second)):
        facts |= {f"{side}.{name}": value for name, value in (outcome.fields or {}).items()}
        facts |= {f"{side}.env.{name}": value for name, value in outcome.env.items()}
        if outcome.error is not None:
            facts[f"{side}.error"] = outcome.error.type
            facts[f"{side}.message"] = outcome.error.message
            facts[f"{side}.origin"] = outcome.error.origin
    return facts


def conditions_from_toml(table: object, where: str) -> Conditions:
    """Return the conditions of one table.

    The table maps a path to a value, to a list of values, or to one operation with its value. Raises UsageError for
    an unknown path or operation, or a value that the operation cannot take.
    """
    if not isinstance(table, dict):
        raise UsageError(f"{where}: this must be a table of paths and values, not {brief(table)}")
    return tuple(_condition(path, value, where) for path, value in table.items())


def _condition(path: str, value: object, where: str) -> LedgerCondition:
    _check_path(path, where)
    if not isinstance(value, dict):
        return LedgerCondition(path=path, operation="is", values=_finite(_listed(value), f"{where}: {path}"))
    if len(value) != 1 or next(iter(value)) not in _OPERATIONS:
        given = next(iter(value), "")
        raise UsageError(
            f"{where}: {path} must be a value, a list of values or one of {', '.join(_OPERATIONS)}"
            f"{hint(given, _OPERATIONS)}"
        )
    ((operation, wanted),) = value.items()
    values = _finite(_listed(wanted), f"{where}: {path}")
    numbers = operation in ("at_least", "below")
    if numbers and (len(values) != 1 or isinstance(values[0], bool) or not isinstance(values[0], int | float)):
        raise UsageError(f"{where}: {path}: {operation} takes one number, not {brief(wanted)}")
    if operation == "set" and (len(values) != 1 or not isinstance(values[0], bool)):
        raise UsageError(f"{where}: {path}: set takes true or false, not {brief(wanted)}")
    if operation == "contains" and not all(isinstance(item, str) for item in values):
        raise UsageError(f"{where}: {path}: contains takes a text or a list of texts, not {brief(wanted)}")
    return LedgerCondition(path=path, operation=operation, values=values)


def _listed(value: object) -> tuple[Any, ...]:
    """Return the items of a list, or any other value as the only item."""
    return tuple(value) if isinstance(value, list) else (value,)


def _finite(values: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    """Return the values. Raises UsageError if there are none, or if JSON cannot express one of them."""
    if not values:
        raise UsageError(f"{where}: the list is empty, and nothing is one of it")
    for value in values:
        plain = value is None or isinstance(value, str | bool | int | float | list | dict)
        if not plain or (isinstance(value, float) and not math.isfinite(value)):
            raise UsageError(f"{where}: {value} is no value that a case or an outcome can have")
    return values


def known_names(head: str) -> tuple[str, ...] | None:
    """Return the names that can follow ``head`` in a path, None if they depend on the subjects."""
    return {
        "hardware": tuple(Hardware.__struct_fields__),
        "model": tuple(Model.__struct_fields__),
        "probe": tuple(probe_answers(Hardware())),
        "checkpoint": tuple(checkpoint_answers(Model())),
    }.get(head)


def _check_path(path: str, where: str) -> None:
    head, dot, rest = path.partition(".")
    if head not in HEADS or not dot or not rest:
        raise UsageError(
            f"{where}: a path starts with {', '.join(head + '.' for head in HEADS)} and a name, not {path!r}"
            f"{hint(head, HEADS)}"
        )
    known = known_names(head)
    if known is not None and rest not in known:
        raise UsageError(f"{where}: there is no {path}{hint(rest, known)}")


def field_names(conditions: Sequence[LedgerCondition]) -> list[str]:
    """Return the fields that the conditions' paths name, as arguments or as outcome fields of either side."""
    names = []
    for condition in conditions:
        head, _, rest = condition.path.partition(".")
        outcome = head in ("first", "second") and rest not in _SIDE_KEYS and not rest.startswith("env.")
        if head == "args" or outcome:
            names.append(rest)
    return names
