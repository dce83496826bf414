"""Every random stream of a campaign in one list, so that no two of them draw the same numbers by accident.

A stream is an integer that goes into the text that seeds the generator (`SeededDraw`). Two users of one stream and
one seed would make the same choices in the same order, and so their cases would be related by accident.
"""

from __future__ import annotations

from enum import IntEnum, unique
from typing import Final


@unique
class Stream(IntEnum):
    """The single streams. Their numbers are part of what a seed means: never change or reuse one."""

    RESOLVED_GOALS = -1
    """The order of the goals that a case meets and still resolves."""
    REFUSED_GOALS = -2
    """The order of the goals that end in a refusal."""
    DEMAND_TURNS = -3
    """The order of the places in which a demand that many of them share gets its turns."""
    ROWS = -4
    """The order of the rows of the covering array."""
    TRIPLES = -5
    """The sample of the triples that coverage is counted over."""
    CROSSED_GOALS = -6
    """Which writer of a field is joined with which place that reads it."""
    REFUSED_TWICE = -7
    """Which two refusing checks are met in one case."""


_KEPT_START: Final = -1000
_ROUND_LENGTH: Final = 10**15
"""How many chunks, and rounds of one deck, there may be. A campaign takes at most 10**12 cases."""


def chunk_stream(number: int) -> int:
    """Return the stream of the chunk ``number``, counted from 0."""
    return number


def kept_stream(number: int) -> int:
    """Return the stream that chooses the kept cases which chunk ``number`` varies."""
    return _KEPT_START - number


def round_stream(deck: int, number: int) -> int:
    """Return the stream that shuffles the round ``number`` of a deck; decks are numbered from 1."""
    return _ROUND_LENGTH * deck + number
