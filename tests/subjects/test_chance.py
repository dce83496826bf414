"""Random numbers in a tree: every case has the same, whatever was drawn before it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_up_trees import BAD, case, make_tree, subject_of

from harness.subjects.child.world import chance

DRAWS: dict[str, Callable[[], object]] = {
    "random": lambda: random.random(),
    "bits": lambda: random.getrandbits(7),
    "range": lambda: random.randrange(1000),
    "choice": lambda: random.choice("abc"),
    "sample": lambda: random.sample(range(50), 3),
    "gauss": lambda: random.gauss(0, 1),
    "bytes": lambda: random.randbytes(3),
    "state": lambda: random.setstate(random.getstate()),
    "seed": lambda: random.seed(5),
    "nothing": lambda: None,
}


@pytest.fixture
def watched() -> Iterator[None]:
    before = dict(vars(random))
    chance.watch()
    yield
    vars(random).update(before)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cases=st.lists(st.lists(st.sampled_from(sorted(DRAWS)), max_size=5), max_size=6))
def test_every_case_draws_what_it_would_draw_alone(watched: None, cases: list[list[str]]) -> None:
    # The state of hypothesis's own draws is none of these functions'.
    for draws in cases:
        chance.renew()
        found = [DRAWS[name]() for name in draws]
        random.seed(0)
        assert found == [DRAWS[name]() for name in draws]


def test_unwatched_functions_begin_anew_all_the_same() -> None:
    state = random.getstate()
    try:
        chance.renew()
        first = random.random()
        chance.renew()
        assert random.random() == first
    finally:
        random.setstate(state)


def test_a_tree_draws_the_same_for_each_case_and_when_it_is_asked_again(tmp_path: Path) -> None:
    body = "self.page_size = pick(range(10**9))"
    with subject_of(make_tree(tmp_path, top="from random import choice as pick", body=body)) as subject:
        cases = [case("a", **BAD), case("b"), case("c", **BAD), case("d", **BAD)]
        drawn = [outcome.fields and outcome.fields["page_size"] for outcome in subject.outcomes(cases)]
        assert drawn[0] == drawn[2] == drawn[3] != drawn[1]
        again = subject.chains([cases[3], cases[0]])
        assert [[write.value for write in chain if write.source == "_bad"] for chain in again] == [[drawn[0]]] * 2
