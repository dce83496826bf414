"""A stack of steps and the state of each step, as a report shows them."""

from __future__ import annotations

from typing import Literal

import msgspec

LandingState = Literal["landed", "passed", "failed", "open"]


class LandingStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a stack.

    ``state`` is ``landed`` if the step is merged, ``passed`` or ``failed`` if only its gate has run, and ``open`` if
    neither. ``fields`` are the fields that the step moves, ``commit`` is its commit, and ``note`` is a remark such as
    a reason.
    """

    title: str
    state: LandingState
    fields: tuple[str, ...] = ()
    commit: str = ""
    note: str = ""


class Stack(msgspec.Struct, frozen=True, kw_only=True):
    """A stack of steps, in the order in which they land.

    ``current`` is the number, from 0, of the step that this gate is for.
    """

    name: str
    steps: tuple[LandingStep, ...]
    current: int | None = None
