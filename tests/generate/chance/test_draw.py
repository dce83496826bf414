"""Both sources of choices keep the interface's promises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.generate.chance.draw import Draw, SeededDraw
from harness.generate.strategies import HypothesisDraw


@st.composite
def hypothesis_draws(draw: st.DrawFn) -> Draw:
    return HypothesisDraw(draw)


@given(seed=st.integers(), stream=st.integers(0), bound=st.integers(1, 10**6))
def test_below_stays_below(seed: int, stream: int, bound: int) -> None:
    assert 0 <= SeededDraw(seed, stream).below(bound) < bound


@given(st.data(), st.lists(st.integers(), min_size=1))
def test_hypothesis_picks_an_option(data: st.DataObject, options: list[int]) -> None:
    draw = HypothesisDraw(data.draw)  # type: ignore[arg-type]
    assert draw.pick(options) in options
    assert 0 <= draw.below(len(options)) < len(options)


@pytest.mark.parametrize("percent", [0, 15, 70, 100])
def test_chance_is_about_right(percent: int) -> None:
    draw = SeededDraw(1, percent)
    hits = sum(draw.chance(percent) for _ in range(10_000))
    assert abs(hits - 100 * percent) < 200


def test_streams_differ() -> None:
    first, second = ([SeededDraw(1, stream).below(1000) for stream in (0, 1)] for _ in range(2))
    assert first == second
    assert first[0] != first[1]


def test_the_sequence_is_the_one_of_every_machine() -> None:
    draw = SeededDraw(42, 3)
    assert [draw.below(1000) for _ in range(5)] == [849, 647, 31, 484, 502]
