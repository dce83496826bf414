"""Helpers for the wording of every report: numbers with nouns, and long texts cut."""

from __future__ import annotations

from typing import Final

_LONGEST: Final = 4000


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun, such as ``1 case`` or ``2 cases``. ``many`` is the plural if it is irregular."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def cases_word(count: int) -> str:
    """Return ``case`` or ``cases``, for a caller that writes the number itself."""
    return "case" if count == 1 else "cases"


def shortened(text: str) -> str:
    """Return ``text``, or its first 4,000 characters and its length if it is longer: a value may have megabytes."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} … ({len(text):,} characters)"
