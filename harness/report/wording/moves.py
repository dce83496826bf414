"""The fields that a change moves, in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from harness.common.errors import visible
from harness.moves import KINDS, Moved, Reason

_SHOWN_FIELDS = 40
_SHOWN_REASONS = 3


def moved_lines(moved: Sequence[Moved], compared: Sequence[str]) -> list[str]:
    """Return a line for each moved field, up to a limit, then a line with the number of further ones."""
    if not moved:
        return ["moved    no field: nothing that decides one differs"]
    known = set(compared)
    lines = []
    for one in in_order(moved, known)[:_SHOWN_FIELDS]:
        apart = "" if one.field in known else " (not compared)"
        lines.append(f"moved    {visible(one.field)}{apart}: {reasons_words(one)}")
    if len(moved) > _SHOWN_FIELDS:
        lines.append(f"         and {len(moved) - _SHOWN_FIELDS} more (--format json has them all)")
    return lines


def in_order(moved: Sequence[Moved], compared: Collection[str]) -> list[Moved]:
    """Return the moved fields: compared ones first, then in the order of `KINDS`, by the kind of the first reason."""
    return sorted(moved, key=lambda one: (one.field not in compared, KINDS.index(one.reasons[0].kind)))


def reasons_words(moved: Moved) -> str:
    """Return the first reasons why a field moved, and the number of further ones."""
    words = [reason_words(reason) for reason in moved.reasons[:_SHOWN_REASONS]]
    if len(moved.reasons) > _SHOWN_REASONS:
        words.append(f"and {len(moved.reasons) - _SHOWN_REASONS} more")
    return "; ".join(words)


def reason_words(reason: Reason) -> str:
    """Return one reason with its place in the second subject, or in the first if the second has it no more."""
    return visible(f"{change_words(reason)} ({reason.second or reason.first})")


def change_words(reason: Reason) -> str:
    """Return the name of the thing that differs, and how it differs."""
    how = f": {reason.detail}" if reason.detail else f" {reason.change}"
    return f"{reason.kind} {reason.name}{how}"
