"""Lists every random stream of a campaign, so that no two of them draw the same numbers by accident.

A stream is an integer that goes into the text that seeds the generator (`SeededDraw`). If two parts of a campaign
used one stream with one seed, they would make the same choices in the same order, and their cases would be related.
"""

from __future__ import annotations

from enum import IntEnum, unique
from typing import Final


@unique
class Stream(IntEnum):
    """The streams that exist once in a campaign.

    Never change or reuse a number: the same seed would then give other cases.
    """

    RESOLVED_GOALS = -1
    """The order of the goals whose cases should resolve."""
    REFUSED_GOALS = -2
    """The order of the goals whose cases should be refused."""
    DEMAND_TURNS = -3
    """The order in which places get a goal for a demand that they share, until enough of them have one."""
    ROWS = -4
    """The order of the rows of the covering array."""
    TRIPLES = -5
    """The sample of triples of options of which the report says how many were in some case."""
    CROSSED_GOALS = -6
    """Which of the places that write a field are joined with a place that reads it."""
    REFUSED_TWICE = -7
    """Which of the ways to each of two refusing checks are joined in one case."""


# The streams of `kept_stream` count down from here, below the numbers of `Stream`.
_KEPT_START: Final = -1000
_ROUND_LENGTH: Final = 10**15
"""An upper bound of the chunks of a campaign and of the rounds of a deck, so that their streams do not overlap.

A campaign has at most 10**12 cases.
"""


def chunk_stream(number: int) -> int:
    """Return the stream of the chunk ``number``, counted from 0."""
    return number


def kept_stream(number: int) -> int:
    """Return the stream that chooses the kept cases which chunk ``number`` varies."""
    return _KEPT_START - number


def round_stream(deck: int, number: int) -> int:
    """Return the stream that shuffles the round ``number`` of a deck; decks are numbered from 1."""
    return _ROUND_LENGTH * deck + number
