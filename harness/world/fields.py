"""The fields of a subject's ServerArgs, and the check of a case's arguments against them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from harness.common.errors import UsageError
from harness.common.wording import brief, path_of, suggest

FieldType = Literal["bool", "int", "float", "str", "list", "object"]

_WORDS: Mapping[FieldType, str] = {
    "bool": "true or false",
    "int": "an integer",
    "float": "a number",
    "str": "a string",
    "list": "a list",
    "object": "any JSON value",
}


class FieldSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a subject's ServerArgs, as its source shows it.

    - ``item`` is the type of a list's items, None if it is unknown.
    - ``choices`` are the values that the command line lists, ``flags`` the spellings of its option ("--tp").
    - ``compared`` are the values that the code compares the field with.
    - ``required`` is true if the field has no default.
    - ``optional`` is true if None is a valid value. None is also valid if it is the default.
    """

    name: str
    type: FieldType
    item: FieldType | None = None
    optional: bool = False
    choices: tuple[Any, ...] = ()
    default: Any = None
    required: bool = False
    flags: tuple[str, ...] = ()
    compared: tuple[Any, ...] = ()


def check_args(args: Mapping[str, object], fields: Mapping[str, FieldSpec], where: str) -> None:
    """Check that every argument is one of ``fields``, by name, and has its type.

    ``where`` is the place of the input, such as "cases.jsonl:3". An integer is accepted as a number, but true is not
    accepted as an integer. A value outside the choices passes, since the subject decides whether to refuse it. A
    required field may be missing, since arguments are only those that the user set. Raises UsageError for the first
    fault.
    """
    for name, value in args.items():
        spec = fields.get(name)
        if spec is None:
            raise UsageError(f"{where}: unknown key {path_of('args', name)}{_nearest_field(name, fields)}")
        nullable = spec.optional or (spec.default is None and not spec.required)
        if value is None and nullable:
            continue
        if not _fits(value, spec.type):
            or_null = " or null" if nullable else ""
            raise UsageError(
                f"{where}: {path_of('args', name)} must be {_WORDS[spec.type]}{or_null}, not {brief(value)}"
            )
        if isinstance(value, list | tuple) and spec.type == "list" and spec.item is not None:
            for index, item in enumerate(value):
                if not _fits(item, spec.item):
                    raise UsageError(
                        f"{where}: {path_of('args', name)}[{index}] must be {_WORDS[spec.item]}, not {brief(item)}"
                    )


def _nearest_field(name: str, fields: Mapping[str, FieldSpec]) -> str:
    """Return a hint: the field that has ``name`` as a flag (``tp`` is tp_size), else fields with similar names."""
    flag = f"--{name.replace('_', '-')}"
    meant = [spec.name for spec in fields.values() if flag in spec.flags]
    return f" (did you mean {meant[0]!r}?)" if meant else suggest(name, fields)


def _fits(value: object, kind: FieldType) -> bool:
    if kind == "object":
        return True
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "int":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "float":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "str":
        return isinstance(value, str)
    return isinstance(value, list | tuple)
