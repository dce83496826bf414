"""Resolves a case with the pipeline: its outcome, the flags that it publishes, and the writes on the way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from declarative.description import writes_of
from declarative.engine import exchange
from declarative.engine.context import RuntimeContext
from declarative.engine.errors import DeclarationError
from declarative.engine.pipeline import Pipeline, Resolution
from declarative.inputs.server_args import ServerArgs
from declarative.inputs.state import STATE
from declarative.pipeline import PASSES, PIPELINE, REGISTRY, run_passes
from declarative.recording import recorded_reads
from harness.world.case import Case, Outcome
from harness.world.chain import Write
from harness.world.fields import FieldSpec
from harness.world.records import argument_specs
from harness.world.slice import outcome_fields, resolve_slice

__all__ = ["arguments", "chain", "exchanged", "publish", "recorded_reads", "resolve"]

# Functions in this folder count as the origin of a refusal.
_HERE: Final = str(Path(__file__).parent) + "/"
_ARGUMENTS: Final = argument_specs()


def arguments() -> dict[str, FieldSpec]:
    """Return the arguments that a case may set, by name; `harness.world.fields.check_args` refuses all others."""
    return _ARGUMENTS


def resolve(case: Case) -> Outcome:
    """Return the outcome of ``case``: the resolved fields, or the refusal that a pass raised.

    Raises UsageError for an argument that is no field, or whose value is not of the field's type.
    """
    outcome, _ = _resolved(case)
    return outcome


def _resolved(
    case: Case, pipeline: Pipeline = PIPELINE, *, materialize: bool = True
) -> tuple[Outcome, list[Resolution]]:
    """Return the outcome of ``case``, and a list with its resolution, empty if the record itself could not be made.

    Without ``materialize`` the record stays pristine, and the outcome holds the pristine values.
    """
    resolutions: list[Resolution] = []

    def run(record: ServerArgs) -> None:
        resolution = Resolution(record)
        # Keep it before the passes run, because `chain` also shows what was declared before a refusal.
        resolutions.append(resolution)
        run_passes(resolution, pipeline)
        if materialize:
            resolution.materialize()

    outcome = resolve_slice(case, arguments=_ARGUMENTS, record=ServerArgs, run=run, root=_HERE)
    return outcome, resolutions


def exchanged(first: str, second: str) -> Callable[[Case], Outcome]:
    """Return a function that does what `resolve` does, but with the steps ``first`` and ``second`` exchanged.

    All providers run at one place, so the name of one stands for all of them. Raises ValueError for two steps that
    cannot be exchanged.
    """
    try:
        slots = exchange.exchanged(PASSES, REGISTRY, first, second)
    except DeclarationError as error:
        raise ValueError(str(error)) from None
    # No ``order`` is given, because an exchange may break it: that is what it is meant to show.
    pipeline = Pipeline(slots, record=ServerArgs, state=STATE, registry=REGISTRY)
    return lambda case: _resolved(case, pipeline)[0]


def publish(case: Case, context: RuntimeContext) -> Outcome:
    """Resolve ``case`` and publish it in ``context``; return the outcome.

    The context then has the flags, arguments and provenance of this case. A refused case publishes nothing. Raises
    UsageError as `resolve` does, and what publishing raises.
    """
    # The record must still be pristine: `RuntimeContext.publish` writes it, after its own checks.
    outcome, resolutions = _resolved(case, materialize=False)
    if outcome.error is not None:
        return outcome
    (resolution,) = resolutions
    context.publish(resolution)
    return msgspec.structs.replace(outcome, fields=outcome_fields(resolution.arguments))


def chain(case: Case) -> list[Write]:
    """Return the writes of outcome fields while ``case`` is resolved, in order.

    If the case is refused, these are the writes before the refusal.

    Raises UsageError as `resolve` does.
    """
    _, resolutions = _resolved(case)
    return [
        write
        for resolution in resolutions
        for step, declared in resolution.log
        for write in writes_of(step, declared)
    ]
