"""Describes a package's argument record, a dataclass of annotated fields, to the harness.

The idiom is that of sglang's ``ServerArgs``: each field is ``Annotated[type, Arg(...)]``. A package has its own
``Arg``; what is read of it here are its attributes ``help``, ``choices``, ``aliases`` and ``no_cli``.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, Final, Protocol

from harness.world.fields import FieldSpec, FieldType


class Metadata(Protocol):
    """What a field says about itself, inside ``Annotated``.

    The flag is the field's name with hyphens; ``aliases`` are further ones. ``no_cli`` fields have no flag.
    """

    @property
    def help(self) -> str:
        """What the field is for."""
        ...

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that the command line offers, none for any."""
        ...

    @property
    def aliases(self) -> tuple[str, ...]:
        """Further flags."""
        ...

    @property
    def no_cli(self) -> bool:
        """Whether there is no flag at all."""
        ...


_TYPES: Final[Mapping[object, FieldType]] = {bool: "bool", int: "int", float: "float", str: "str"}


def field_specs(record: type[Any]) -> dict[str, FieldSpec]:
    """Return the description of each argument of the dataclass ``record``, by name, in the fields' order."""
    hints = typing.get_type_hints(record, include_extras=True)
    return {field.name: _spec(field, hints[field.name]) for field in dataclasses.fields(record) if field.init}


def _spec(field: dataclasses.Field[Any], annotated: Any) -> FieldSpec:
    hint, *metadata = typing.get_args(annotated)
    arg: Metadata = metadata[0]
    return field_spec(
        field.name,
        hint,
        field.default,
        choices=arg.choices,
        flags=() if arg.no_cli else ("--" + field.name.replace("_", "-"), *arg.aliases),
        is_made=field.default_factory is not dataclasses.MISSING,
    )


def field_spec(
    name: str, hint: Any, default: Any, *, choices: tuple[str, ...], flags: tuple[str, ...], is_made: bool
) -> FieldSpec:
    """Return the description of one field.

    ``hint`` is its type as Python writes it; ``default`` is `dataclasses.MISSING` where there is none, or where it is
    made anew for each record (``is_made``).
    """
    inner, optional = _without_none(hint)
    missing = default is dataclasses.MISSING
    return FieldSpec(
        name=name,
        type=_TYPES.get(inner, "object"),
        # What a factory makes is also made for null.
        optional=optional or is_made,
        choices=choices,
        default=None if missing else default,
        required=missing and not is_made,
        flags=flags,
    )


def _without_none(hint: Any) -> tuple[Any, bool]:
    if typing.get_origin(hint) not in (typing.Union, types.UnionType):
        return hint, False
    (inner,) = (part for part in typing.get_args(hint) if part is not types.NoneType)
    return inner, True
