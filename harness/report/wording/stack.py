"""The steps of a stack and the state of each, as a report shows them."""

from __future__ import annotations

from typing import Literal

import msgspec

LandingState = Literal["landed", "passed", "failed", "open"]


class LandingStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step: ``landed`` is merged, ``passed`` and ``failed`` are gated, ``open`` is neither.

    ``commit`` is its commit, ``fields`` are the fields that it moves, and ``note`` is a remark such as a reason.
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
