"""What it would change to let a field's write in one slot happen in another."""

from __future__ import annotations

from typing import NamedTuple

from codemods.reading.accesses import Access
from codemods.reading.timeline import ResolutionSlot, Timeline
from harness.common.errors import UsageError


class Move(NamedTuple):
    """A writer of ``field`` in the slot ``origin`` that would run at the start of the slot ``to``.

    ``seen_otherwise`` are the reads in between, which would see another value; ``jumped`` the field's other writers
    there, whose order with it would change; ``changed_inputs`` the writes in between of what the writer needs;
    ``handed`` the places in between that are handed the record and are not followed: what they read is not known.
    """

    field: str
    origin: ResolutionSlot
    to: ResolutionSlot
    writes: tuple[Access, ...]
    seen_otherwise: tuple[Access, ...]
    jumped: tuple[Access, ...]
    changed_inputs: tuple[Access, ...]
    handed: tuple[Access, ...]

    @property
    def is_safe(self) -> bool:
        """Whether nothing that is known, and nothing unknown, stands in the way."""
        return not (self.seen_otherwise or self.jumped or self.changed_inputs or self.handed)


def judge_move(timeline: Timeline, field: str, origin: str, to: str) -> Move:
    """Return what stands between the writes of ``field`` in the slot ``origin`` and the start of the slot ``to``.

    Slots are given by name or number. Raises UsageError for an unknown slot, or one that does not write the field.
    """
    source, target = timeline.slot(origin), timeline.slot(to)
    places = [
        number
        for number, access in enumerate(timeline.accesses)
        if access.slot == source.number and access.kind == "write" and access.field == field
    ]
    if not places:
        writers = sorted({access.slot for access in timeline.of([field], "write")})
        raise UsageError(
            f"slot {source.name!r} does not write {field!r}: slots {', '.join(map(str, writers)) or 'none'} do"
        )
    start = next(
        (n for n, access in enumerate(timeline.accesses) if access.slot >= target.number), len(timeline.accesses)
    )
    # Later: what comes after the first write; earlier: what comes before the last one.
    later = start > places[0]
    between = timeline.accesses[places[0] + 1 : start] if later else timeline.accesses[start : places[-1]]
    own = {places[0], *places}
    writes = tuple(timeline.accesses[number] for number in places)
    needs = frozenset(name for access in writes for name in access.needs) - {field}
    offset = places[0] + 1 if later else start
    others = [access for number, access in enumerate(between, offset) if number not in own]
    return Move(
        field=field,
        origin=source,
        to=target,
        writes=writes,
        seen_otherwise=tuple(e for e in others if e.kind == "read" and e.field == field),
        jumped=tuple(e for e in others if e.kind == "write" and e.field == field),
        changed_inputs=tuple(e for e in others if e.kind == "write" and e.field in needs),
        handed=tuple(e for e in others if e.kind == "handed"),
    )
