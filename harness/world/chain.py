"""Places in a subject's source that write fields or decide, and the writes that a case made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a subject's source, and what is said of all places: which function, in which file, in which line.

    ``source`` is the function (a handler or its helper, a pass, a provider). ``file`` is relative to the folder that
    holds the package. ``line`` counts from 1. Its text, ``function (file:line)``, is for people and for the identity
    of a bucket; nothing parses it.
    """

    source: str
    file: str
    line: int

    def __str__(self) -> str:
        """Return ``function (file:line)``."""
        return f"{self.source} ({self.file}:{self.line})"

    @property
    def place(self) -> Place:
        """The place alone, without what a subclass adds: places of different kinds compare equal by it."""
        return Place(source=self.source, file=self.file, line=self.line)


class Writer(Place, frozen=True, kw_only=True):
    """A place that can write a field.

    ``slot`` is its position in the order of the resolution (a handler's number and name, or a pass's position and
    name). ``excuse`` says why no case can reach it, if the source says so (a comment ``unreachable: REASON`` on the
    line) or the profile knows it.
    """

    field: str
    slot: str
    excuse: str = ""


class Decision(Place, frozen=True, kw_only=True):
    """A condition that a resolution asks; ``text`` is its source code.

    A comment beside it may name a result that it ``never`` has ("true", "false", or "asked" for no result at all).
    Then ``excuse`` says why.
    """

    text: str
    never: str = ""
    excuse: str = ""


class Write(Place, frozen=True, kw_only=True):
    """One write while a case was resolved: the place, the field, and the value of the field after it."""

    field: str
    value: Any


def place_of(place: Place | None) -> Place | None:
    """Return the place alone of a write, a writer or a decision; None for None."""
    return None if place is None else place.place


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """What a case did besides writing fields.

    ``taken`` has each decision with its result, ``variables`` each environment variable that was set, and ``raised``
    the place that raised the exception which refuses the case.
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

    ``writes`` holds fields, other state, and environment variables.
    """

    source: str
    slot: str
    writes: tuple[str, ...]
