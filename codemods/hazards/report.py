"""Formats a timeline and moves, as text for people and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from codemods.hazards.moves import DANGERS, Move
from codemods.reading.accesses import Access
from codemods.reading.timeline import Timeline


def as_text(timeline: Timeline, fields: Sequence[str], moves: Iterable[Move] = ()) -> str:
    """Return text that lists the accesses of ``fields`` slot by slot, then the dangers of each move."""
    places = [
        len({(access.file, access.line, access.field) for access in timeline.of(fields, kind)})
        for kind in ("write", "read", "handed")
    ]
    counts = "written in {} places, read in {}, handed on in {}".format(*places)
    lines = [f"{', '.join(fields)}: {counts}"]
    accesses = timeline.of(fields)
    for slot in timeline.slots:
        own = [access for access in accesses if access.slot == slot.number]
        if any(access.kind != "handed" for access in own):
            lines.append(f"{slot.number:3} {slot.name}  ({slot.file}:{slot.line})")
            lines += [f"      {line}" for line in dict.fromkeys(map(_words, own))]
    return "\n".join([*lines, *(line for move in moves for line in _move_lines(move))]) + "\n"


def as_json(timeline: Timeline, fields: Sequence[str], moves: Iterable[Move] = ()) -> str:
    """Return JSON with the same contents as `as_text`."""
    body = {
        "fields": list(fields),
        "slots": [{name: getattr(slot, name) for name in _OF_SLOT} for slot in timeline.slots],
        "events": [_data(access) for access in timeline.of(fields)],
        "moves": [
            {"field": move.field, "from": move.origin.number, "to": move.to.number, "safe": move.is_safe}
            | {name: list(map(_data, found)) for name, found in {"writes": move.writes, **move.dangers}.items()}
            for move in moves
        ],
    }
    return json.dumps(body, indent=2) + "\n"


_OF_SLOT = ("number", "name", "file", "line")


def _words(access: Access) -> str:
    guard = f"  if {access.guards[-1]}" if access.guards else ""
    return f"{access.kind:6} {access.field}  {access.function} ({access.file}:{access.line}){guard[:120]}"


def _move_lines(move: Move) -> list[str]:
    head = f"{move.field} from {move.origin.number} {move.origin.name} to {move.to.number} {move.to.name}"
    if move.is_safe:
        return ["", f"{head}: nothing in between reads or writes what it touches"]
    lines = ["", f"{head}:"]
    for name, title in DANGERS.items():
        if move.dangers[name]:
            words = dict.fromkeys(f"{access.slot} {_words(access)}" for access in move.dangers[name])
            lines += [f"  {title}:", *(f"    {line}" for line in words)]
    return lines


def _data(access: Access) -> dict[str, Any]:
    lists = {"guards": list(access.guards), "needs": sorted(access.needs), "through": list(access.through)}
    return access._asdict() | lists
