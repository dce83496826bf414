"""Prints a trace or a move, as text for people and as plain data for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from codemods.hazards.moves import Move
from codemods.reading.accesses import Access
from codemods.reading.timeline import Timeline


def as_text(trace: Timeline, fields: Sequence[str], moves: Iterable[Move] = ()) -> str:
    """Return the writers and readers of ``fields`` slot by slot, then what stands in the way of each move."""
    lines = [f"{', '.join(fields)}: {_counted(trace, fields)}"]
    events = trace.of(fields)
    for slot in trace.slots:
        own = [event for event in events if event.slot == slot.number]
        if any(event.kind != "handed" for event in own):
            lines.append(f"{slot.number:3} {slot.name}  ({slot.file}:{slot.line})")
            lines += [f"      {line}" for line in dict.fromkeys(_words(event) for event in own)]
    for move in moves:
        lines += ["", *_move_lines(move)]
    return "\n".join(lines) + "\n"


def as_json(trace: Timeline, fields: Sequence[str], moves: Iterable[Move] = ()) -> str:
    """Return the same as JSON."""
    body = {
        "fields": list(fields),
        "slots": [
            {"number": slot.number, "name": slot.name, "file": slot.file, "line": slot.line} for slot in trace.slots
        ],
        "events": [_data(event) for event in trace.of(fields)],
        "moves": [_move_data(move) for move in moves],
    }
    return json.dumps(body, indent=2) + "\n"


def _counted(trace: Timeline, fields: Sequence[str]) -> str:
    def places(kind: str) -> int:
        return len({(event.file, event.line, event.field) for event in trace.of(fields, kind)})

    return f"written in {places('write')} places, read in {places('read')}, handed on in {places('handed')}"


def _words(event: Access) -> str:
    guard = f"  if {event.guards[-1]}" if event.guards else ""
    return f"{event.kind:6} {event.field}  {event.function} ({event.file}:{event.line}){guard[:120]}"


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
            lines += [f"    {line}" for line in dict.fromkeys(f"{event.slot} {_words(event)}" for event in events)]
    return lines


def _data(event: Access) -> dict[str, Any]:
    return {
        **event._asdict(),
        "guards": list(event.guards),
        "needs": sorted(event.needs),
        "through": list(event.through),
    }


def _move_data(move: Move) -> dict[str, Any]:
    return {
        "field": move.field,
        "from": move.origin.number,
        "to": move.to.number,
        "safe": move.is_safe,
        **{
            name: [_data(event) for event in getattr(move, name)]
            for name in ("writes", "seen_otherwise", "jumped", "changed_inputs", "handed")
        },
    }
