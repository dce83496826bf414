"""The steps of a stack and how far each has come: what a report shows of them, given as data."""

from __future__ import annotations

from typing import Literal

import msgspec

LandingState = Literal["landed", "passed", "failed", "open"]


class LandingStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step: ``landed`` is merged, ``passed`` and ``failed`` are gated, ``open`` is neither.

    ``commit`` is where it stands, ``fields`` those it moves, ``note`` what to say of it (a gate's reason, say).
    """

    title: str
    state: LandingState
    fields: tuple[str, ...] = ()
    commit: str = ""
    note: str = ""


class Stack(msgspec.Struct, frozen=True, kw_only=True):
    """A stack of steps, the first to land first; ``current`` is the number (from 0) of the one that was gated."""

    name: str
    steps: tuple[LandingStep, ...]
    current: int | None = None
