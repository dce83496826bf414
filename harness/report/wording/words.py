"""The small words that every report needs."""

from __future__ import annotations

from typing import Final

_LONGEST: Final = 4000


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun: ``1 case``, ``2 cases``; ``many`` is an irregular plural."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def cases_word(count: int) -> str:
    """Return the noun for ``count`` cases, for a number that is written otherwise."""
    return "case" if count == 1 else "cases"


def shortened(text: str) -> str:
    """Return at most 4,000 characters of ``text``, and its length if that is not all: a value may have megabytes."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} … ({len(text):,} characters)"
