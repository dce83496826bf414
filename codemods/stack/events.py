"""The events that the run of a stack emits; the run prints nothing itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from codemods.stack.state import StackState, StepState
from harness.engine.result import events as gate_events


@dataclass(frozen=True)
class StepStarted:
    """A step begins, the one with this ``number`` (from 1) of ``total``."""

    step: StepState
    number: int
    total: int


@dataclass(frozen=True)
class StepWorking:
    """The run turns to another piece of work; ``what`` describes it in a few words."""

    what: str


@dataclass(frozen=True)
class GateProgress:
    """An event of the running gate; ``mode`` is its mode, or "against" with the further subject of the last gates."""

    mode: str
    event: gate_events.Event


@dataclass(frozen=True)
class StepEnded:
    """A step was committed, changed nothing, or stopped the stack; ``gate`` is the result of a gate that failed."""

    step: StepState
    gate: gate_events.Finished | None = None


@dataclass(frozen=True)
class StackEnded:
    """All steps are done."""

    state: StackState


StackEvent = StepStarted | StepWorking | GateProgress | StepEnded | StackEnded
StackListener = Callable[[StackEvent], None]
