"""Where a field is read and written, slot by slot, and what moving one of its writers would change.

`trace` reads a tree; `Trace.move` judges a move; `as_text` and `as_json` print either.
"""

from __future__ import annotations

from codemods.hazards.events import Event, Kind
from codemods.hazards.moves import Move, judge_move
from codemods.hazards.report import as_json, as_text
from codemods.hazards.slots import Slot, find_slots
from codemods.hazards.trace import Trace, trace

__all__ = ["Event", "Kind", "Move", "Slot", "Trace", "as_json", "as_text", "find_slots", "judge_move", "trace"]
