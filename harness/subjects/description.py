"""A subject's description of itself: its arguments, what its resolution reads, the fields of its outcomes."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from harness.world.chain import Decision, Writer
from harness.world.fields import FieldSpec

WORLD: Final = ("hardware", "model")
"""The parts of a case that describe the world, not what the user sets."""


class Variable(msgspec.Struct, frozen=True, kw_only=True):
    """An environment variable that the resolution reads: its type, its default, the values it is compared with."""

    type: Literal["bool", "int", "float", "str"]
    default: Any = None
    compared: tuple[Any, ...] = ()


class Condition(msgspec.Struct, frozen=True, array_like=True):
    """What one input must be for the resolution to reach a place.

    - ``kind`` says what ``name`` is: an argument (``arg``), an environment variable (``env``), a function that the
      tree calls (``call``), or an attribute of the model's configuration (``model``). Dots and numbers behind a name
      lead to one part of its value.
    - ``operation`` with ``values`` is the condition. ``is`` means one of ``values``; ``contains``, ``<``, ``<=``,
      ``>`` and ``>=`` compare with ``values``; ``true`` and ``set`` have none.
    - The operations ``same``, ``multiple``, ``under`` and ``upto`` are relations to another input. Then ``values``
      has that input's name, followed by its kind unless it is an argument.
    - ``wanted`` is False if the condition must not hold.
    """

    kind: Literal["arg", "env", "call", "model"]
    name: str
    operation: str
    values: tuple[Any, ...]
    wanted: bool


class Aims(msgspec.Struct, frozen=True, kw_only=True):
    """What a case must be like to reach each place of a resolution.

    Conditions, clauses and places are numbered by their positions, so that what several places share is here once.

    - A place is a list of aims, one for each way to it.
    - An aim is a list of clauses, all of which must be fulfilled.
    - A clause is a list of alternatives, one of which must be fulfilled.
    - An alternative is a list of conditions, all of which must hold.
    - ``refusals`` are the places where a case is refused.
    - ``writers`` and ``readers`` are pairs of a place and a field that is written or read there.
    """

    conditions: tuple[Condition, ...] = ()
    clauses: tuple[tuple[tuple[int, ...], ...], ...] = ()
    places: tuple[tuple[tuple[int, ...], ...], ...] = ()
    refusals: tuple[int, ...] = ()
    writers: tuple[tuple[int, str], ...] = ()
    readers: tuple[tuple[int, str], ...] = ()


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """A subject as its own source describes it.

    - ``fields``: the arguments, in the record's order.
    - ``reads``: the arguments that the resolution reads, each with the values it is compared with.
    - ``environment``: the variables that the resolution reads.
    - ``architectures``: the model architectures that it names.
    - ``slots``: the handlers that a slice runs, in order; empty for a whole construction.
    - ``resolved``: those of the fields that a gate compares which the subject has.
    - ``writers``: the places that write such a field, in slot order; empty if the subject is not recorded.
    - ``decisions``: the conditions on the way there, in slot order; empty if the subject is not recorded.
    - ``tables``: writers that are entries of a table and not code; whether they ran is not known.
    - ``reasons``: for each pass one sentence that says why it declares what it does; empty if the code has none.
    - ``aims``: how to reach each place of the resolution.
    - ``takes``: the parts of the world that the subject depends on.
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
