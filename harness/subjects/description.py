"""A subject's description of itself: its arguments, what its resolution reads, the outcome fields it has."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from harness.world.chain import Decision, Writer
from harness.world.fields import FieldSpec

WORLD: Final = ("hardware", "model")
"""The parts of a case that are the world's, and not the user's."""


class Variable(msgspec.Struct, frozen=True, kw_only=True):
    """An environment variable the resolution reads: what it holds, its default, the values it is compared with."""

    type: Literal["bool", "int", "float", "str"]
    default: Any = None
    compared: tuple[Any, ...] = ()


class Condition(msgspec.Struct, frozen=True, array_like=True):
    """What one input must be for the resolution to reach a place.

    ``name`` is, by ``kind``, an argument (``arg``, dots lead into a structure), an environment variable
    (``env``), a function the tree asks (``call``) or an attribute of the model's configuration (``model``); dots and
    numbers behind a name pick one item. ``operation`` is one of ``is`` (one of ``values``), ``true``, ``set``,
    ``contains``, ``<``, ``<=``, ``>``, ``>=``, or a relation to another input, which ``values`` names (an argument,
    unless its kind follows the name): ``same``, ``multiple``, ``under``, ``upto``. ``wanted`` is
    whether it must hold or must not.
    """

    kind: Literal["arg", "env", "call", "model"]
    name: str
    operation: str
    values: tuple[Any, ...]
    wanted: bool


class Aims(msgspec.Struct, frozen=True, kw_only=True):
    """What it takes to reach each place of a resolution, numbered so that what places share is there once.

    A place is a list of aims, one for each way to it; an aim is a list of clauses, all to be fulfilled; a clause is a
    list of alternatives, one to be fulfilled; an alternative is a list of conditions, all to hold. At the places
    ``refusals`` something is raised; ``writers`` and ``readers`` are places, each with a field that is written or
    read there.
    """

    conditions: tuple[Condition, ...] = ()
    clauses: tuple[tuple[tuple[int, ...], ...], ...] = ()
    places: tuple[tuple[tuple[int, ...], ...], ...] = ()
    refusals: tuple[int, ...] = ()
    writers: tuple[tuple[int, str], ...] = ()
    readers: tuple[tuple[int, str], ...] = ()


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """A subject as its own source describes it.

    ``fields`` are the arguments in the record's order; ``reads`` names those that the resolution reads, with the
    values it compares each with; ``environment`` the variables it reads; ``architectures`` the model
    architectures it names; ``slots`` the handlers a slice runs, in order (empty for a whole construction);
    ``resolved`` the outcome fields the subject has, of those a gate compares; ``writers`` the places that write one,
    in the order of the slots, and ``decisions`` the conditions on the way (none where the subject is not recorded);
    ``tables`` are writers that are entries of a table and no code, so that none of them is known to have run;
    ``reasons`` why a pass declares what it does, one sentence by its name (none for code that gives no reasons);
    ``aims`` what leads to each place of the resolution; ``takes`` which parts of the world it asks for.
    """

    fields: dict[str, FieldSpec]
    reads: dict[str, tuple[Any, ...]]
    environment: dict[str, Variable]
    architectures: tuple[str, ...]
    slots: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()
    writers: tuple[Writer, ...] = ()
    tables: tuple[Writer, ...] = ()
    decisions: tuple[Decision, ...] = ()
    reasons: dict[str, str] = {}
    aims: Aims = Aims()
    takes: tuple[str, ...] = WORLD
