"""What a campaign keeps and varies: the same for a stream whatever the others do, and not before it can be known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engine.search.guide import STREAMS, VARIED, Guide, News, StreamState
from harness.engine.search.plan import decode, encode
from harness.world.case import Case


def news(name: str, *reached: int, checks: tuple[str, ...] = ()) -> News:
    return News(Case(id=name), list(reached), list(checks))


def kept(guide: Guide) -> list[str]:
    return [one.case.id for one in guide.kept()]


def test_a_case_is_kept_for_what_no_earlier_one_of_its_stream_reached() -> None:
    guide = Guide(1)
    guide.take(0, [news("a", 1, 2), news("b", 2), news("c", 2, 3)])
    guide.take(1, [news("other stream", 1)])
    guide.take(STREAMS, [news("d", 1, 3), news("e", checks=("refused",)), news("f", checks=("refused",))])
    assert kept(guide) == ["a", "c", "e", "other stream"]
    assert [one.reached for one in guide.kept()] == [[1, 2], [3], [], [1]]


def test_nothing_is_varied_before_anything_is_kept() -> None:
    guide = Guide(1)
    assert guide.ready(0) and guide.bases(0) == []


def test_a_chunk_waits_for_what_it_varies() -> None:
    guide = Guide(1)
    waiting = [number for number in range(8 * STREAMS) if not guide.ready(number)]
    assert waiting and min(waiting) >= 2 * STREAMS
    for number in range(waiting[0]):
        guide.take(number, [news(str(number), number)])
    assert guide.ready(waiting[0])
    assert len(guide.bases(waiting[0])) == VARIED


def test_the_chunks_of_a_stream_come_in_order() -> None:
    guide = Guide(1)
    with pytest.raises(AssertionError, match="chunk 1 of a stream"):
        guide.take(STREAMS, [])


TOLD = st.lists(st.lists(st.lists(st.integers(0, 30), max_size=4), max_size=3), min_size=24, max_size=24)


@given(TOLD, st.integers(0, 3))
def test_what_a_chunk_varies_depends_on_its_stream_alone(told: list[list[list[int]]], stream: int) -> None:
    whole, alone = Guide(5), Guide(5)
    for number, cases in enumerate(told):
        if number % STREAMS == stream:
            if alone.ready(number):
                assert alone.bases(number) == whole.bases(number)
            alone.take(number, [news(f"{number}-{place}", *reached) for place, reached in enumerate(cases)])
        whole.take(number, [news(f"{number}-{place}", *reached) for place, reached in enumerate(cases)])


@given(TOLD)
def test_it_does_not_depend_on_how_far_the_search_has_gone_on(told: list[list[list[int]]]) -> None:
    """A chunk handed out as early as it can be gets the same as one handed out as late as it can be."""
    guide = Guide(5)
    early = {}
    for number, cases in enumerate(told):
        for ahead in range(number, len(told)):
            if ahead not in early and guide.ready(ahead):
                early[ahead] = guide.bases(ahead)
        assert guide.bases(number) == early[number]
        guide.take(number, [news(f"{number}-{place}", *reached) for place, reached in enumerate(cases)])


@given(TOLD, st.integers(0, 24))
def test_it_goes_on_from_its_states(told: list[list[list[int]]], stop: int) -> None:
    whole, first = Guide(5), Guide(5)
    for number, cases in enumerate(told[:stop]):
        first.take(number, [news(f"{number}-{place}", *reached) for place, reached in enumerate(cases)])
    rest = Guide(5, decode(encode(first.states()), list[StreamState]))
    for number, cases in enumerate(told):
        found = [news(f"{number}-{place}", *reached) for place, reached in enumerate(cases)]
        whole.take(number, found)
        if number >= stop:
            rest.take(number, found)
    assert kept(rest) == kept(whole)
    assert rest.bases(24) == whole.bases(24)
