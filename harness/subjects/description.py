"""What a subject says of itself: its arguments, what its resolution reads, and the outcome fields it has."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from harness.world.chain import Writer
from harness.world.fields import FieldSpec


class Variable(msgspec.Struct, frozen=True, kw_only=True):
    """An environment variable the resolution reads: what it holds, its default, the values it is compared with."""

    type: Literal["bool", "int", "float", "str"]
    default: Any = None
    compared: tuple[Any, ...] = ()


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """A subject as its own source describes it.

    ``fields`` are the arguments in the record's order; ``reads`` names those that the resolution reads, with the
    values it compares each with; ``environment`` the variables it reads; ``architectures`` the model
    architectures it names; ``slots`` the handlers a slice runs, in order (empty for a whole construction);
    ``resolved`` the outcome fields the subject has, of those a gate compares; ``writers`` the places that write one,
    in the order of the slots (none where the subject does not say).
    """

    fields: dict[str, FieldSpec]
    reads: dict[str, tuple[Any, ...]]
    environment: dict[str, Variable]
    architectures: tuple[str, ...]
    slots: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()
    writers: tuple[Writer, ...] = ()
