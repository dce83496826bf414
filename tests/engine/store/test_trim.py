"""What is left reaches all that was reached, and nothing of it could be left out for nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.engine.store.trim import trimmed

REACHED = st.dictionaries(st.text("abcde", min_size=1, max_size=3), st.frozensets(st.integers(0, 20)), max_size=12)


@given(REACHED)
def test_nothing_is_lost_and_each_adds_something(reached: dict[str, frozenset[str | int]]) -> None:
    chosen = trimmed(reached)
    assert len(set(chosen)) == len(chosen)
    covered: set[str | int] = set()
    for name in chosen:
        # The greedy choice: no other would have added more.
        gains = {other: len(features - covered) for other, features in reached.items()}
        assert gains[name] == max(gains.values()) > 0
        assert name == min(other for other, gain in gains.items() if gain == gains[name])
        covered |= reached[name]
    assert covered == set().union(*reached.values())


@given(REACHED)
def test_the_order_of_the_cases_does_not_matter(reached: dict[str, frozenset[str | int]]) -> None:
    assert trimmed(dict(reversed(reached.items()))) == trimmed(reached)
