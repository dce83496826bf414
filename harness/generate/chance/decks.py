"""Decks of machines and architectures, from which every one is dealt equally often, unlike by chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from harness.generate.chance.draw import SeededDraw, shuffled
from harness.generate.chance.streams import round_stream

T = TypeVar("T")


class Deck(Generic[T]):
    """Deals all cards in each round, every round in an order of its own. ``number`` is that of its random streams."""

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
