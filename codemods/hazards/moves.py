"""Judges what could change if the writes of a field in one slot happened in another slot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from codemods.reading.accesses import Access
from codemods.reading.timeline import ResolutionSlot, Timeline
from harness.common.errors import UsageError

DANGERS: Final = {
    "seen_otherwise": "reads that would see another value",
    "jumped": "writers it would jump over",
    "changed_inputs": "writers of what it needs",
    "handed": "places that are handed the record",
}
"""The kinds of danger, with their titles. ``handed``: whatever gets the record may read and write any field."""


class Move(NamedTuple):
    """The writes of ``field`` in the slot ``origin``, moved to the start of the slot ``to``."""

    field: str
    origin: ResolutionSlot
    to: ResolutionSlot
    writes: tuple[Access, ...]
    dangers: Mapping[str, tuple[Access, ...]]
    """The accesses between the two slots that the move may affect, by the kind of danger."""

    @property
    def is_safe(self) -> bool:
        """Whether there is no danger of any kind."""
        return not any(self.dangers.values())


def judge_move(timeline: Timeline, field: str, origin: str, to: str) -> Move:
    """Return the move of the writes of ``field`` from the slot ``origin`` to the start of the slot ``to``.

    Slots are given by name or number. Raises UsageError for an unknown slot, and if ``origin`` does not write the
    field.
    """
    source, target, accesses = timeline.slot(origin), timeline.slot(to), timeline.accesses
    slots = [access.slot for access in accesses]
    writes = {
        number: access
        for number, access in enumerate(accesses)
        if (access.slot, access.kind, access.field) == (source.number, "write", field)
    }
    if not writes:
        writers = sorted({access.slot for access in timeline.of([field], "write")})
        raise UsageError(
            f"slot {source.name!r} does not write {field!r}: slots {', '.join(map(str, writers)) or 'none'} do"
        )
    start = next((number for number, slot in enumerate(slots) if slot >= target.number), len(slots))
    # Moved to a later slot, the writes jump over the accesses between the first write and that slot. Moved to an
    # earlier slot, they jump over those between that slot and the last write.
    between = range(min(writes) + 1, start) if start > min(writes) else range(start, max(writes))
    others = [accesses[number] for number in between if number not in writes]
    needs = {name for access in writes.values() for name in access.needs} - {field}
    rules: dict[str, Callable[[Access], bool]] = {
        "seen_otherwise": lambda access: access.kind == "read" and access.field == field,
        "jumped": lambda access: access.kind == "write" and access.field == field,
        "changed_inputs": lambda access: access.kind == "write" and access.field in needs,
        "handed": lambda access: access.kind == "handed",
    }
    dangers = {name: tuple(filter(rules[name], others)) for name in DANGERS}
    return Move(field, source, target, tuple(writes.values()), dangers)
