"""Prints a timeline or a move, as text for people and as plain data for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from codemods.hazards.moves import Move
from codemods.reading.accesses import Access
from codemods.reading.timeline import Timeline


def as_text(timeline: Timeline, fields: Sequence[str], moves: Iterable[Move] = ()) -> str:
    """Return the writers and readers of ``fields`` slot by slot, then what stands in the way of each move."""
    lines = [f"{', '.join(fields)}: {_counted(timeline, fields)}"]
    events = timeline.of(fields)
    for slot in timeline.slots:
        own = [access for access in events if access.slot == slot.number]
        if any(access.kind != "handed" for access in own):
            lines.append(f"{slot.number:3} {slot.name}  ({slot.file}:{slot.line})")
            lines += [f"      {line}" for line in dict.fromkeys(_words(access) for access in own)]
    for move in moves:
        lines += ["", *_move_lines(move)]
    return "\n".join(lines) + "\n"


def as_json(timeline: Timeline, fields: Sequence[str], moves: Iterable[Move] = ()) -> str:
    """Return the same as JSON."""
    body = {
        "fields": list(fields),
        "slots": [
            {"number": slot.number, "name": slot.name, "file": slot.file, "line": slot.line}
            for slot in timeline.slots
        ],
        "events": [_data(access) for access in timeline.of(fields)],
        "moves": [_move_data(move) for move in moves],
    }
    return json.dumps(body, indent=2) + "\n"


def _counted(timeline: Timeline, fields: Sequence[str]) -> str:
    def places(kind: str) -> int:
        return len({(access.file, access.line, access.field) for access in timeline.of(fields, kind)})

    return f"written in {places('write')} places, read in {places('read')}, handed on in {places('handed')}"


def _words(access: Access) -> str:
    guard = f"  if {access.guards[-1]}" if access.guards else ""
    return f"{access.kind:6} {access.field}  {access.function} ({access.file}:{access.line}){guard[:120]}"


def _move_lines(move: Move) -> list[str]:
    head = f"{move.field} from {move.origin.number} {move.origin.name} to {move.to.number} {move.to.name}"
    if move.is_safe:
        return [f"{head}: nothing in between reads or writes what it touches"]
    parts = (
        ("reads that would see another value", move.seen_otherwise),
        ("writers it would jump over", move.jumped),
        ("writers of what it needs", move.changed_inputs),
        ("places that are handed the record", move.handed),
    )
    lines = [f"{head}:"]
    for title, events in parts:
        if events:
            lines.append(f"  {title}:")
            lines += [f"    {line}" for line in dict.fromkeys(f"{access.slot} {_words(access)}" for access in events)]
    return lines


def _data(access: Access) -> dict[str, Any]:
    return {
        **access._asdict(),
        "guards": list(access.guards),
        "needs": sorted(access.needs),
        "through": list(access.through),
    }


def _move_data(move: Move) -> dict[str, Any]:
    return {
        "field": move.field,
        "from": move.origin.number,
        "to": move.to.number,
        "safe": move.is_safe,
        **{
            name: [_data(access) for access in getattr(move, name)]
            for name in ("writes", "seen_otherwise", "jumped", "changed_inputs", "handed")
        },
    }
