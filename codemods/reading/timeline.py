"""The reads and writes of all slots, in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from codemods.reading.accesses import Access, Walker
from codemods.reading.facts import RecordFacts
from codemods.reading.index import TreeIndex
from codemods.reading.slots import ResolutionSlot, entry_place, find_slots
from harness.common.errors import UsageError, hint


@dataclass(frozen=True)
class Timeline:
    """The slots of one tree and what happens in them, in order; `events` are in the order of evaluation."""

    slots: tuple[ResolutionSlot, ...]
    events: tuple[Access, ...]

    def of(self, fields: Iterable[str], kind: str = "") -> list[Access]:
        """Return the events of ``fields``, of one kind or of all; what is handed on counts for every field."""
        wanted = set(fields)
        return [
            event
            for event in self.events
            if (event.field in wanted or event.kind == "handed") and (not kind or event.kind == kind)
        ]

    def slot(self, name: str) -> ResolutionSlot:
        """Return the slot called ``name``, or with that number; raises UsageError with the nearest name."""
        for slot in self.slots:
            if name in (slot.name, str(slot.number)):
                return slot
        raise UsageError(f"there is no slot {name!r}{hint(name, [slot.name for slot in self.slots])}")


def read_timeline(index: TreeIndex, facts: RecordFacts, entry: str = "__post_init__") -> Timeline:
    """Return what the slots of a tree read and write; raises UsageError when the tree shows no order of slots."""
    slots = find_slots(index, facts, entry)
    walker = Walker(index, facts)
    home = entry_place(index, facts, entry)
    events: list[Access] = []
    for slot in slots:
        if slot.statement is not None and home is not None:
            found = walker.statement(home, slot.statement)
        else:
            place = walker.method(slot.run) if slot.run else None
            found = walker.function(place) if place else []
        events += [event._replace(slot=slot.number) for event in found]
    return Timeline(slots, tuple(events))
