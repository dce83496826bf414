"""Cards come equally often, in an order that the seed and the round decide, whatever was dealt before."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from harness.generate.chance.decks import Deck


@given(st.integers(1, 9), st.integers(0, 60), st.integers(0, 5))
def test_no_card_comes_twice_as_long_as_another_is_due(size: int, turns: int, seed: int) -> None:
    deck = Deck(range(size), 1)
    counts = Counter(dict.fromkeys(range(size), 0))
    counts.update(deck.card(seed, turn) for turn in range(turns))
    assert max(counts.values()) - min(counts.values()) <= 1


@given(st.lists(st.integers(0, 40), min_size=1, max_size=8))
def test_a_turn_is_the_same_in_any_order(turns: list[int]) -> None:
    deck = Deck("abcdefg", 2)
    assert [deck.card(3, turn) for turn in turns] == [Deck("abcdefg", 2).card(3, turn) for turn in turns]


def test_rounds_decks_and_seeds_differ() -> None:
    def dealt(number: int, seed: int, first: int) -> list[str]:
        deck = Deck("abcdefghij", number)
        return [deck.card(seed, first + turn) for turn in range(10)]

    assert len({"".join(dealt(*one)) for one in ((1, 1, 0), (1, 1, 10), (2, 1, 0), (1, 2, 0))}) == 4
