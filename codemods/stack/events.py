"""The events that a run of the stack emits while it works; it prints nothing itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from codemods.stack.state import StackState, StepState
from harness.engine.result import events as gate_events


@dataclass(frozen=True)
class StepStarted:
    """A step begins: its number from 1, out of how many."""

    step: StepState
    number: int
    total: int


@dataclass(frozen=True)
class StepWorking:
    """What is being done, in a few words."""

    what: str


@dataclass(frozen=True)
class GateProgress:
    """An event of the gate that runs; ``mode`` is its mode."""

    mode: str
    event: gate_events.Event


@dataclass(frozen=True)
class StepEnded:
    """A step is committed, changed nothing, or stopped the stack; ``gate`` is the result that stopped it, if any."""

    step: StepState
    gate: gate_events.Finished | None = None


@dataclass(frozen=True)
class StackEnded:
    """All steps are done."""

    state: StackState


StackEvent = StepStarted | StepWorking | GateProgress | StepEnded | StackEnded
StackListener = Callable[[StackEvent], None]
