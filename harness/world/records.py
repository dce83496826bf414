"""Describes the argument record of a package to the harness, and has the table of the arguments of 0.5.14.

A record is a dataclass whose fields are annotated as in sglang's ``ServerArgs``: ``Annotated[type, Arg(...)]``. Each
package defines its own ``Arg``; this module reads only its attributes ``help``, ``choices``, ``aliases`` and
``no_cli``.

`legacy` and `declarative` make their records from one table, ``data/arguments.toml``. It has the arguments that the
resolution slice reads or writes, those that generated cases set, and those of the real launches. Values that are set
before the slice begins are in `harness.world.slice`.
"""

from __future__ import annotations

import dataclasses
import tomllib
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING
from importlib.resources import files
from typing import Any, Final, NamedTuple, Protocol

from harness.world import choices
from harness.world.cuda_graph import CudaGraphConfig
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
        """The values that the command line accepts; empty if it accepts any."""
        ...

    @property
    def aliases(self) -> tuple[str, ...]:
        """Further flags."""
        ...

    @property
    def no_cli(self) -> bool:
        """Whether the field has no flag at all."""
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

    ``hint`` is its type as Python writes it. ``is_made`` is true if its default is made anew for each record; then
    ``default`` is `dataclasses.MISSING`, as it is for a field without a default.
    """
    inner, optional = _without_none(hint)
    missing = default is dataclasses.MISSING
    return FieldSpec(
        name=name,
        type=_TYPES.get(inner, "object"),
        # A field with a default factory also accepts None, and the factory then makes its value.
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


_HINTS: Final = {"bool": bool, "int": int, "float": float, "str": str, "CudaGraphConfig": CudaGraphConfig}


class Argument(NamedTuple):
    """One argument: its name in the record, its type as a Python hint, and what the command line shows.

    ``is_made`` is true if the default is made anew for each record, because a resolution changes it. ``default`` is
    then `dataclasses.MISSING`, as it is for a required argument. The first of ``flags`` is the one that follows from
    the name.
    """

    name: str
    hint: Any
    default: Any
    is_made: bool
    help: str
    choices: tuple[str, ...]
    flags: tuple[str, ...]


def argument_specs() -> dict[str, FieldSpec]:
    """Return the description of each argument by name, in the order of the table."""
    return {
        name: field_spec(name, hint, default, choices=choices, flags=flags, is_made=is_made)
        for name, hint, default, is_made, _, choices, flags in ARGUMENTS
    }


def _argument(name: str, row: dict[str, Any]) -> Argument:
    word, optional, _ = row["type"].partition("?")
    kind = _HINTS[word]
    return Argument(
        name=name,
        hint=kind | None if optional else kind,
        default=row.get("default", None if optional else MISSING),
        is_made=kind is CudaGraphConfig,
        help=row["help"],
        choices=getattr(choices, row["choices"]) if "choices" in row else (),
        flags=("--" + name.replace("_", "-"), *row.get("aliases", ())),
    )


_TABLE: Final = tomllib.loads(files("harness.world").joinpath("data/arguments.toml").read_text(encoding="utf-8"))
ARGUMENTS: Final = tuple(_argument(name, row) for name, row in _TABLE.items())
