"""What a subject says of itself: its arguments, what its resolution reads, and the outcome fields it has."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from harness.world.chain import Decision, Writer
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
    in the order of the slots, and ``decisions`` the conditions on the way (none where the subject is not recorded).
    """

    fields: dict[str, FieldSpec]
    reads: dict[str, tuple[Any, ...]]
    environment: dict[str, Variable]
    architectures: tuple[str, ...]
    slots: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()
    writers: tuple[Writer, ...] = ()
    decisions: tuple[Decision, ...] = ()


class Reach(msgspec.Struct, frozen=True):
    """How much of a description's writers and decisions ran.

    ``counts`` are the runs of each writer; ``seen`` says of each decision whether it was never asked (0), true (1),
    false (2) or both (3).
    """

    counts: list[int] = []
    seen: list[int] = []
