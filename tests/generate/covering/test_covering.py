"""A covering array has every pair, says little in a row, and is the same every time."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.generate.covering.arrays import Factor, covering_rows

factors = st.lists(st.builds(Factor, options=st.integers(2, 5), silent=st.booleans()), max_size=7)


def uncovered(given_factors: list[Factor], rows: list[tuple[int, ...]]) -> set[tuple[int, int, int, int]]:
    pairs = {
        (first, one, second, other)
        for first, second in combinations(range(len(given_factors)), 2)
        for one in range(given_factors[first].options)
        for other in range(given_factors[second].options)
    }
    return pairs - {
        (first, row[first], second, row[second])
        for row in rows
        for first, second in combinations(range(len(given_factors)), 2)
    }


@given(factors=factors, most_said=st.integers(0, 4))
def test_every_pair_is_in_a_row_and_no_row_says_more_than_asked(factors: list[Factor], most_said: int) -> None:
    rows = covering_rows(factors, most_said)
    assert not uncovered(factors, rows)
    for row in rows:
        assert len(row) == len(factors)
        assert all(0 <= option < factor.options for option, factor in zip(row, factors, strict=True))
        said = sum(bool(option) for option, factor in zip(row, factors, strict=True) if factor.silent)
        assert said <= max(most_said, 2)
    assert rows == covering_rows(factors, most_said)


def test_no_parameter_and_one_parameter() -> None:
    assert covering_rows([], 10) == []
    assert covering_rows([Factor(3, True)], 10) == [(0,), (1,), (2,)]


@pytest.mark.parametrize(("most_said", "most_rows"), [(10, 75), (4, 220)])
def test_the_rows_are_few(most_said: int, most_rows: int) -> None:
    """36 are the least for two parameters of six options; saying less takes more rows."""
    assert len(covering_rows([Factor(6, False), Factor(6, False), *[Factor(3, True)] * 20], most_said)) <= most_rows
