"""One case through the pipeline: its outcome, and what wrote which field on the way."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Final

from declarative.engine import exchange
from declarative.engine.context import RuntimeContext
from declarative.engine.errors import DeclarationError
from declarative.engine.pipeline import Pipeline, Resolution
from declarative.engine.registry import Constant
from declarative.engine.steps import Step
from declarative.families import constants
from declarative.inputs.server_args import ServerArgs
from declarative.inputs.state import STATE as DECLARABLE_STATE
from declarative.pipeline import PASSES, PIPELINE, REGISTRY, recorded_reads, run_passes
from harness.world.arguments import argument_specs
from harness.world.case import Case, Outcome
from harness.world.chain import PlacedStep, SlotFunction, Write, Writer
from harness.world.fields import FieldSpec
from harness.world.slice import FIELDS, STATE, resolve_slice

_PACKAGE: Final = Path(__file__).parent
__all__ = [
    "SLOTS",
    "ServerArgs",
    "arguments",
    "chain",
    "exchanged",
    "publish",
    "reasons",
    "recorded_reads",
    "resolve",
    "steps",
    "writers",
]

_HERE: Final = str(_PACKAGE) + "/"
_OUTCOME: Final = frozenset((*FIELDS, *STATE))


SLOTS: Final = tuple(
    SlotFunction(slot.number, slot.name, step.function)
    for slot, step in PIPELINE.steps()
    if not isinstance(step, Constant)
)
"""The functions of passes and providers in execution order; an entry of the constant table is no function."""


@cache
def arguments() -> dict[str, FieldSpec]:
    """Return what a case may set, by name; `harness.world.fields.check_args` refuses the rest."""
    return argument_specs()


def resolve(case: Case) -> Outcome:
    """Return what the passes make of ``case``: the resolved fields, or the refusal that one raised.

    Raises UsageError for an argument that is no field, or whose value is not of the field's type.
    """
    return resolve_slice(case, arguments=arguments(), record=ServerArgs, run=_run, root=_HERE)


def _run(record: ServerArgs, pipeline: Pipeline = PIPELINE) -> None:
    resolution = Resolution(record)
    run_passes(resolution, pipeline)
    resolution.materialize()


def exchanged(first: str, second: str) -> Callable[[Case], Outcome]:
    """Return what `resolve` would be with the steps ``first`` and ``second`` in each other's place.

    A provider stands for all of them, which run in one place. Raises ValueError for two that cannot be exchanged.
    """
    try:
        slots = exchange.exchanged(PASSES, REGISTRY, first, second)
    except DeclarationError as error:
        raise ValueError(str(error)) from None
    pipeline = Pipeline(slots, record=ServerArgs, state=DECLARABLE_STATE, registry=REGISTRY)
    run = partial(_run, pipeline=pipeline)
    return lambda case: resolve_slice(case, arguments=arguments(), record=ServerArgs, run=run, root=_HERE)


def publish(case: Case, context: RuntimeContext) -> Outcome:
    """Resolve ``case`` and publish it in ``context``, whose flags, arguments and provenance are then this case's.

    A refused case publishes nothing. Raises UsageError as `resolve` does, and what publishing raises.
    """
    resolutions: list[Resolution] = []

    def run(record: ServerArgs) -> None:
        resolution = Resolution(record)
        run_passes(resolution)
        resolutions.append(resolution)

    outcome = resolve_slice(case, arguments=arguments(), record=ServerArgs, run=run, root=_HERE)
    if outcome.error is None:
        context.publish(resolutions[0])
    return outcome


def chain(case: Case) -> list[Write]:
    """Return the writes of outcome fields while ``case`` is resolved, in order; those before a refusal too.

    Raises UsageError as `resolve` does.
    """
    resolutions: list[Resolution] = []

    def run(record: ServerArgs) -> None:
        resolution = Resolution(record)
        resolutions.append(resolution)
        run_passes(resolution)
        resolution.materialize()

    resolve_slice(case, arguments=arguments(), record=ServerArgs, run=run, root=_HERE)
    return [
        Write(field=name, value=value, source=step.name, file=_place(step)[0], line=_place(step)[1])
        for resolution in resolutions
        for step, declared in resolution.log
        for name, value in declared.items()
        if name in _OUTCOME
    ]


def reasons() -> dict[str, str]:
    """Return why each pass and provider declares what it does, one sentence by its name."""
    return {step.name: step.reason for _, step in PIPELINE.steps()}


@cache
def steps() -> tuple[PlacedStep, ...]:
    """Return every pass and provider in execution order, with all that it may declare."""
    return tuple(
        PlacedStep(source=step.name, slot=slot.label, writes=(*step.writes, *step.state, *step.env))
        for slot, step in PIPELINE.steps()
    )


@cache
def writers() -> tuple[Writer, ...]:
    """Return every pass and provider in execution order, once for each outcome field that it may write."""
    return tuple(
        Writer(field=name, slot=slot.label, source=step.name, file=_place(step)[0], line=_place(step)[1])
        for slot, step in PIPELINE.steps()
        for name in (*step.writes, *step.state)
        if name in _OUTCOME
    )


@cache
def _place(step: Step) -> tuple[str, int]:
    """Return the file, relative to the folder that holds the package, and the line of the ``def`` or of the entry."""
    if isinstance(step, Constant):
        path, wanted = Path(constants.__file__), step.architecture
    else:
        path, wanted = Path(step.function.__code__.co_filename), step.name
    return path.relative_to(_PACKAGE.parent).as_posix(), _lines(path)[wanted]


@cache
def _lines(path: Path) -> dict[str, int]:
    """Return the line of each function and each string key of ``path``."""
    lines: dict[str, int] = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            lines[node.name] = node.lineno
        elif isinstance(node, ast.Dict):
            for key in node.keys:
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    lines.setdefault(key.value, key.lineno)
    return lines
