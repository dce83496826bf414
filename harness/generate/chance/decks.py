"""Decks of machines and architectures.

A deck deals every card once before it deals any card again, so that all occur equally often. Independent random draws
would not do that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from harness.generate.chance.draw import SeededDraw, shuffled
from harness.generate.chance.streams import round_stream

T = TypeVar("T")


class Deck(Generic[T]):
    """Deals its cards in rounds: a round has every card once, in a random order of its own.

    ``number`` is the deck's number, which selects its random streams (`round_stream`).
    """

    def __init__(self, cards: Sequence[T], number: int) -> None:
        self._cards = tuple(cards)
        self._number = number
        self._round: tuple[tuple[int, int], list[T]] | None = None

    def card(self, seed: int, turn: int) -> T:
        """Return the card of turn ``turn``, counted from 0."""
        done, place = divmod(turn, len(self._cards))
        if self._round is None or self._round[0] != (seed, done):
            draw = SeededDraw(seed, round_stream(self._number, done))
            self._round = (seed, done), shuffled(self._cards, draw)
        return self._round[1][place]
