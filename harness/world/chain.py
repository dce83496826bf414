"""Places in a subject's source that write fields or make decisions, and the writes that a case made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a subject's source, and the base class of everything that has a place.

    ``source`` is the function (a handler or its helper, a pass, a provider). ``file`` is relative to the folder that
    holds the package. ``line`` counts from 1. The text of a place, ``function (file:line)``, is for people and part
    of the identity of a bucket; nothing parses it.
    """

    source: str
    file: str
    line: int

    def __str__(self) -> str:
        """Return ``function (file:line)``."""
        return f"{self.source} ({self.file}:{self.line})"

    @property
    def place(self) -> Place:
        """The place alone, without what a subclass adds, so that places of different kinds can be compared."""
        return Place(source=self.source, file=self.file, line=self.line)


class Writer(Place, frozen=True, kw_only=True):
    """A place that can write a field.

    ``slot`` is its position in the order of the resolution: the number and name of a handler, or the position and
    name of a pass. ``excuse`` says why no case can reach it, if a comment on the line (``unreachable: REASON``) or
    the profile does.
    """

    field: str
    slot: str
    excuse: str = ""


class Decision(Place, frozen=True, kw_only=True):
    """A single condition in a resolution; ``text`` is its source code.

    ``never`` is a result that it cannot have, if a comment beside it names one: "true", "false", or "asked" for a
    condition that is not evaluated at all. Then ``excuse`` is the reason that the comment gives.
    """

    text: str
    never: str = ""
    excuse: str = ""


class Write(Place, frozen=True, kw_only=True):
    """One write while a case was resolved: its place, the field, and the value that the field has afterwards."""

    field: str
    value: Any


def place_of(place: Place | None) -> Place | None:
    """Return the place of a write, a writer or a decision, without what these add; None for None."""
    return None if place is None else place.place


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in a case besides writes of fields.

    ``taken`` has each decision with its result. ``variables`` has each environment variable that was set. ``raised``
    is the place that raised the exception by which the case was refused.
    """

    taken: tuple[tuple[Decision, bool], ...] = ()
    variables: tuple[Write, ...] = ()
    raised: Place | None = None


class SlotFunction(NamedTuple):
    """A function that runs in the slot ``number`` of a package's resolution; ``name`` is the slot's name."""

    number: int
    name: str
    run: Callable[..., Any]


class PlacedStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a package whose steps declare: its function, its slot, and the names that it may write.

    ``writes`` has the names of fields, of other state, and of environment variables.
    """

    source: str
    slot: str
    writes: tuple[str, ...]
