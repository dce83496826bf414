"""What the text of a tree says of a field: who writes and reads it, and what a step would not lift."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from codemods.frame.codemod import Left
from codemods.hazards.moves import Move, judge_move
from codemods.hazards.report import as_json, as_text
from codemods.reading.timeline import Timeline, read_timeline
from codemods.stack.message import shown
from codemods.stack.places import TreePlace
from codemods.stack.single import default_work
from codemods.stack.step import Applied, Work, left_of, planned_step, read_tree, summary_of

_CODEMODS = ("add_runtime", "record_writes", "lift_writes")


def explained(
    place: TreePlace, fields: Sequence[str], *, move: tuple[str, str] | None, as_data: bool, jobs: int
) -> str:
    """Return the account of ``fields`` as text, or as JSON; ``move`` is from which slot to which one is judged.

    Raises UsageError for an unknown field or slot.
    """
    index, facts = read_tree(place.root, place.record, place.package)
    for name in fields:
        facts.check_written(name)
    found = read_timeline(index, facts)
    moves = [judge_move(found, name, *move) for name in fields] if move is not None else []
    work = default_work(place, fields, _CODEMODS)
    applied = planned_step(index, facts, work, place.root, jobs=jobs)
    left = left_of(applied, work.fields)
    if as_data:
        return _json(found, work, moves, applied, left)
    return as_text(found, work.fields, moves) + "\n".join(_lift_lines(work, applied, left)) + "\n"


def _lift_lines(work: Work, applied: Applied, left: Sequence[Left]) -> list[str]:
    counts = summary_of(applied, work.fields)
    lines = [
        "",
        f"a step lifts {counts['lifted']} of {counts['before']} writes into passes, declares {counts['recorded']} in"
        f" place and leaves {counts['after']}",
    ]
    for item in left:
        lines.append(f"  {item.file}:{item.line}  {shown(item.what)}")
        lines.append(f"      {item.reason}")
    return lines


def _json(found: Timeline, work: Work, moves: Sequence[Move], applied: Applied, left: Sequence[Left]) -> str:
    body: dict[str, Any] = json.loads(as_json(found, work.fields, moves))
    body["lift"] = {**summary_of(applied, work.fields), "left": [item.shown() for item in left]}
    return json.dumps(body, indent=2) + "\n"
