"""Describes the passes to the harness: their order, what each may write and why, and where it is in the source."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Final

from declarative.engine.registry import Constant
from declarative.engine.steps import Step
from declarative.families import constants
from declarative.pipeline import PIPELINE
from harness.world.chain import PlacedStep, SlotFunction, Write, Writer
from harness.world.slice import FIELDS, STATE

_PACKAGE: Final = Path(__file__).parent
_OUTCOME: Final = frozenset((*FIELDS, *STATE))

SLOTS: Final = tuple(
    SlotFunction(slot.number, slot.name, step.function)
    for slot, step in PIPELINE.steps()
    if not isinstance(step, Constant)
)
"""The functions of passes and providers in execution order. Constants are left out: they are entries of a table."""


def reasons() -> dict[str, str]:
    """Return, by the name of each pass and provider, the sentence that says why it declares what it does."""
    return {step.name: step.reason for _, step in PIPELINE.steps()}


def steps() -> tuple[PlacedStep, ...]:
    """Return every pass and provider in execution order, with all names that it may declare."""
    return tuple(
        PlacedStep(source=step.name, slot=slot.label, writes=step.allowed) for slot, step in PIPELINE.steps()
    )


def writers() -> tuple[Writer, ...]:
    """Return every pass and provider in execution order, once for each outcome field that it may write."""
    return tuple(
        Writer(field=name, slot=slot.label, source=step.name, file=_place(step)[0], line=_place(step)[1])
        for slot, step in PIPELINE.steps()
        for name in (*step.writes, *step.state)
        if name in _OUTCOME
    )


def writes_of(step: Step, declared: dict[str, object]) -> list[Write]:
    """Return what a step ``declared`` in one case as a list of writes, one for each outcome field, in its order."""
    file, line = _place(step)
    return [
        Write(field=name, value=value, source=step.name, file=file, line=line)
        for name, value in declared.items()
        if name in _OUTCOME
    ]


def _place(step: Step) -> tuple[str, int]:
    """Return the file of a step, relative to the folder that holds the package, and its line.

    The line is that of the ``def``, or of a constant's key in the table.
    """
    if isinstance(step, Constant):
        path, wanted = Path(constants.__file__), step.architecture
    else:
        path, wanted = Path(step.function.__code__.co_filename), step.name
    return path.relative_to(_PACKAGE.parent).as_posix(), _lines(path)[wanted]


# The code object of a function knows the line of its decorator, not of its ``def``, so the file is parsed. The result
# is kept, because a file has up to eleven passes and each may write several fields.
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
