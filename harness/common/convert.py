"""One JSON object into one struct, with errors in the reader's words."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from harness.common.errors import UsageError, hint
from harness.common.wording import brief, path_of, suggest

_LONGEST_CHOICE = 80  # finding a nearest name is quadratic in the length

# Objects of which the item at fault is named: their types, what an item may be, and that in words.
_TEXTS: Mapping[Any, tuple[Any, str]] = {
    dict[str, str]: (str, "a string"),
    dict[str, str | None]: (str | None, "a string or null"),
}

S = TypeVar("S", bound=msgspec.Struct)


def changes(value: msgspec.Struct, plain: msgspec.Struct) -> dict[str, Any]:
    """Return the attributes of ``value`` that differ from those of ``plain``, a struct of the same type, by name."""
    names = value.__struct_fields__
    return {name: getattr(value, name) for name in names if getattr(value, name) != getattr(plain, name)}


def struct_from_json(
    cls: type[S], value: object, expected: Mapping[str, str], where: str, key: str | None = None
) -> S:
    """Return ``value``, decoded JSON, as a ``cls``.

    ``expected`` says for each key of ``cls``, by its name, what a value must be ("a string or null").
    ``where`` is the place of the input ("cases.jsonl:3"), ``key`` the path of the object in it, None for
    the outermost one. Raises UsageError for what is no object, an unknown or missing key, or a wrong value.
    """
    prefix = () if key is None else (key,)
    if not isinstance(value, dict):
        raise UsageError(f"{where}: {key or 'the line'} must be an object, not {brief(value)}")
    for name in value:
        if name not in expected:
            raise UsageError(f"{where}: unknown key {path_of(*prefix, name)}{suggest(name, expected)}")
    try:
        return msgspec.convert(value, cls)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {_first_fault(cls, value, expected, prefix, error)}") from None


def _first_fault(
    cls: type[S],
    value: Mapping[str, Any],
    expected: Mapping[str, str],
    prefix: tuple[str, ...],
    error: msgspec.ValidationError,
) -> str:
    """Say which key of ``value`` is at fault: msgspec names the place, but not in words for a user."""
    for field in msgspec.structs.fields(cls):
        path = path_of(*prefix, field.name)
        if field.name not in value:
            if field.required:
                return f"the key {path} is missing: it must be {expected[field.name]}"
            continue
        given = value[field.name]
        try:
            msgspec.convert(given, field.type)
        except msgspec.ValidationError:
            if field.type in _TEXTS and isinstance(given, dict):
                valid, words = _TEXTS[field.type]
                inner, item = next((key, item) for key, item in given.items() if not isinstance(item, valid))
                return f"{path_of(*prefix, field.name, inner)} must be {words}, not {brief(item)}"
            near = ""
            if typing.get_origin(field.type) is typing.Literal and isinstance(given, str):
                near = hint(given[:_LONGEST_CHOICE], typing.get_args(field.type))
            return f"{path} must be {expected[field.name]}, not {brief(given)}{near}"
    return str(error)  # a rule between keys (a struct's own check), in the struct's words
