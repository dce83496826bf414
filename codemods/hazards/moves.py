"""What it would change to let a field's write in one slot happen in another."""

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
"""The kinds of danger, each with its title. What reads the record after it was handed on is not known."""


class Move(NamedTuple):
    """A writer of ``field`` in the slot ``origin`` that would run at the start of the slot ``to``.

    ``writes`` are its writes, ``dangers`` the accesses between the two slots that make the move one, by their kind.
    """

    field: str
    origin: ResolutionSlot
    to: ResolutionSlot
    writes: tuple[Access, ...]
    dangers: Mapping[str, tuple[Access, ...]]

    @property
    def is_safe(self) -> bool:
        """Whether nothing that is known, and nothing unknown, is in the way."""
        return not any(self.dangers.values())


def judge_move(timeline: Timeline, field: str, origin: str, to: str) -> Move:
    """Return what is between the writes of ``field`` in the slot ``origin`` and the start of the slot ``to``.

    Slots are given by name or number. Raises UsageError for an unknown slot, or one that does not write the field.
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
    # Later: what comes after the first write; earlier: what comes before the last one.
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
