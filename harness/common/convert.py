"""Converts one JSON object into one struct, with errors that name JSON keys and types, not Python's."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, TypeVar

import msgspec

from harness.common.errors import UsageError, hint
from harness.common.wording import brief, path_of, suggest

_LONGEST_CHOICE = 80  # characters: the time to find a nearest name grows with the square of the length

# For an object of one of these types, an error names the wrong item. With each type go the type of an item, and the
# words for what an item must be.
_OBJECTS_OF_TEXTS: Mapping[Any, tuple[Any, str]] = {
    dict[str, str]: (str, "a string"),
    dict[str, str | None]: (str | None, "a string or null"),
}
_WORDS: Mapping[Any, str] = {
    bool: "true or false",
    int: "an integer",
    str: "a string",
    NoneType: "null",
    list[str]: "a list of strings",
    dict[str, Any]: "an object",
    dict[str, str]: "an object of strings",
    dict[str, str | None]: "an object of strings and nulls",
}

S = TypeVar("S", bound=msgspec.Struct)


def changes(value: msgspec.Struct, plain: msgspec.Struct) -> dict[str, Any]:
    """Return the attributes of ``value`` that differ from those of ``plain``, a struct of the same type, by name."""
    names = value.__struct_fields__
    return {name: getattr(value, name) for name in names if getattr(value, name) != getattr(plain, name)}


def worded(words: str) -> msgspec.Meta:
    """Return an annotation with the words for what a field's value must be, for types that say too little."""
    return msgspec.Meta(extra={"words": words})


def words_for(kind: Any) -> str:
    """Return the words for what a value of the type ``kind`` must be, such as "an integer or null"."""
    if kind in _WORDS:
        return _WORDS[kind]
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        metas = kind.__metadata__
        own = [meta.extra["words"] for meta in metas if meta.extra]
        positive = parts[0] is int and any(meta.ge == 1 for meta in metas)
        return own[0] if own else "a positive integer" if positive else words_for(parts[0])
    if origin is typing.Literal:
        return f"one of {', '.join(parts)}"
    if origin in (typing.Union, UnionType):
        *first, last = map(words_for, parts)
        return f"{', '.join(first)}{',' if len(first) > 1 else ''} or {last}"
    raise TypeError(f"there are no words for the type {kind}: annotate the field with worded()")


def struct_from_json(
    cls: type[S], value: object, where: str, key: str | None = None, words: Mapping[str, str] | None = None
) -> S:
    """Return ``value``, decoded JSON, as a ``cls``.

    ``where`` is the place of the input ("cases.jsonl:3"). ``key`` is the path of the object in it, None for the
    outermost one. ``words`` maps keys of ``cls`` to the words for what their values must be, for errors; for other
    keys `words_for` gives them. Raises UsageError for a value that is no object, for an unknown or missing key, and
    for a wrong value.
    """
    prefix = () if key is None else (key,)
    if not isinstance(value, dict):
        raise UsageError(f"{where}: {key or 'the line'} must be an object, not {brief(value)}")
    for name in value:
        if name not in cls.__struct_fields__:
            raise UsageError(f"{where}: unknown key {path_of(*prefix, name)}{suggest(name, cls.__struct_fields__)}")
    try:
        return msgspec.convert(value, cls)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {_first_fault(cls, value, words or {}, prefix, error)}") from None


def _first_fault(
    cls: type[S],
    value: Mapping[str, Any],
    words: Mapping[str, str],
    prefix: tuple[str, ...],
    error: msgspec.ValidationError,
) -> str:
    """Return a sentence about the first wrong key of ``value``; msgspec's own messages are not made for users."""
    for field in msgspec.structs.fields(cls):
        path = path_of(*prefix, field.name)
        expected = words.get(field.name) or words_for(field.type)
        if field.name not in value:
            if field.required:
                return f"the key {path} is missing: it must be {expected}"
            continue
        given = value[field.name]
        try:
            msgspec.convert(given, field.type)
        except msgspec.ValidationError:
            if field.type in _OBJECTS_OF_TEXTS and isinstance(given, dict):
                valid, item_words = _OBJECTS_OF_TEXTS[field.type]
                inner, item = next((key, item) for key, item in given.items() if not isinstance(item, valid))
                return f"{path_of(*prefix, field.name, inner)} must be {item_words}, not {brief(item)}"
            near = ""
            if typing.get_origin(field.type) is typing.Literal and isinstance(given, str):
                near = hint(given[:_LONGEST_CHOICE], typing.get_args(field.type))
            return f"{path} must be {expected}, not {brief(given)}{near}"
    return str(error)  # every key is right by itself: the struct checks a rule between keys, and words it
