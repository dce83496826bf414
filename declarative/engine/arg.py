"""A field's metadata, and the whitelist that follows from it."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Hashable
from functools import cache
from typing import Any


@dataclasses.dataclass(frozen=True)
class Arg:
    """A field's metadata, inside ``Annotated``.

    The command-line flag is the field's name with hyphens; ``aliases`` are further flags. A ``no_cli`` field has no
    flag. The ``resolvable`` fields are the whitelist: only these may be declared as resolved flags.
    """

    help: str
    choices: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    no_cli: bool = False
    resolvable: bool = False


def resolvable_fields(record: type[Any]) -> tuple[str, ...]:
    """Return the names of the resolvable fields of the dataclass ``record``, in the fields' order.

    Raises TypeError when ``record`` is no dataclass.
    """
    if not dataclasses.is_dataclass(record):
        raise TypeError(f"{record.__name__} is no dataclass: its fields say nothing about themselves")
    return _resolvable_fields(record)


@cache
def _resolvable_fields(record: Hashable) -> tuple[str, ...]:
    hints = typing.get_type_hints(record, include_extras=True)
    fields = dataclasses.fields(typing.cast(Any, record))
    return tuple(field.name for field in fields if _is_resolvable(hints[field.name]))


def _is_resolvable(hint: object) -> bool:
    return any(isinstance(item, Arg) and item.resolvable for item in typing.get_args(hint))
