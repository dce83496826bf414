"""Explains a field from the text of a tree: what writes and reads it, and which writes a step would not lift."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from codemods.hazards.moves import Move, judge_move
from codemods.hazards.report import as_json, as_text
from codemods.reading.timeline import Timeline, read_timeline
from codemods.stack.migrate import default_work
from codemods.stack.step import AppliedStep, StepWork, planned_step, read_tree
from codemods.stack.trees import TreePlace

_CODEMODS = ("add_runtime", "record_writes", "lift_writes")


def explained(
    place: TreePlace, fields: Sequence[str], *, move: tuple[str, str] | None, as_data: bool, jobs: int
) -> str:
    """Return the explanation of ``fields``, as JSON if ``as_data``, else as text.

    With ``move``, a slot and a target slot, it also judges the move of the writer in the first to the second.
    Raises UsageError for an unknown field or slot.
    """
    index, facts = read_tree(place.root, place.record, place.package)
    for name in fields:
        facts.check_written(name)
    found = read_timeline(index, facts)
    moves = [judge_move(found, name, *move) for name in fields] if move is not None else []
    work = default_work(place, fields, _CODEMODS)
    applied = planned_step(index, facts, work, place.root, jobs=jobs)
    if as_data:
        return _json(found, work, moves, applied)
    return as_text(found, work.fields, moves) + "\n".join(_lift_lines(work, applied)) + "\n"


def _lift_lines(work: StepWork, applied: AppliedStep) -> list[str]:
    counts = applied.counts(work.fields)
    lines = [
        "",
        f"a step lifts {counts['lifted']} of {counts['before']} writes into passes, declares {counts['recorded']} in"
        f" place and leaves {counts['after']}",
    ]
    for item in applied.left(work.fields):
        lines.append(f"  {item.file}:{item.line}  {item.statement}")
        lines.append(f"      {item.reason}")
    return lines


def _json(found: Timeline, work: StepWork, moves: Sequence[Move], applied: AppliedStep) -> str:
    body: dict[str, Any] = json.loads(as_json(found, work.fields, moves))
    body["lift"] = {**applied.counts(work.fields), "left": msgspec.to_builtins(applied.left(work.fields))}
    return json.dumps(body, indent=2) + "\n"
