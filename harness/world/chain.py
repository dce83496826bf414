"""Who writes a field, and what decides it: the places in a subject's source, and the writes that a case made."""

from __future__ import annotations

from typing import Any

import msgspec


class Writer(msgspec.Struct, frozen=True, kw_only=True):
    """One place that can write a field.

    ``slot`` says where in the order of the resolution it runs (a handler's number and name, a pass's place and name);
    ``source`` is the function that writes (a handler or its helper, a pass, a provider); ``file`` is relative to the
    folder that holds the package, ``line`` counts from 1. ``excuse`` says why no case can come there, where the
    source says so (a comment ``unreachable: REASON`` on the line) or is known for it.
    """

    field: str
    slot: str
    source: str
    file: str
    line: int
    excuse: str = ""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """One condition that a resolution asks for, as its source has it; ``source`` is the function.

    A comment beside it may say what it ``never`` is ("true", "false", "asked"), and ``excuse`` why.
    """

    text: str
    source: str
    file: str
    line: int
    never: str = ""
    excuse: str = ""


class Write(msgspec.Struct, frozen=True, kw_only=True):
    """One write while a case was resolved: the field, the value it had afterwards, and the place as in ``Writer``."""

    field: str
    value: Any
    source: str
    file: str
    line: int


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a subject's source, as in ``Writer``."""

    source: str
    file: str
    line: int


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """What a case did on its way besides writing fields.

    Each decision with its outcome, each variable it set, and where the exception was raised that refuses it.
    """

    taken: tuple[tuple[Decision, bool], ...] = ()
    variables: tuple[Write, ...] = ()
    raised: Place | None = None


class PlacedStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a package whose steps declare: ``source`` and ``slot`` as in ``Writer``, and all it may write.

    ``writes`` holds fields, what else is settled, and environment variables.
    """

    source: str
    slot: str
    writes: tuple[str, ...]
