"""What a case is the first of its stream to reach, against a plain count over sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.subjects.child.recording.novelty import Novelty
from harness.subjects.child.recording.recorder import Recorder

WRITES, DECISIONS = (3, 1, 4), (0, 2)
"""The recorder's numbers of the described writes, and of the first outcomes of the described decisions."""

# A case: what it writes and which outcomes it has. Write 2 and outcomes 4 and 5 are recorded and not described.
CASE = st.tuples(st.lists(st.integers(1, 4), max_size=3), st.lists(st.integers(0, 5), max_size=3))
PARTS = st.lists(st.tuples(st.integers(0, 1), st.lists(CASE, max_size=4)), max_size=6)


def recorder_of_six() -> Any:
    """Return a recorder of the package (which is no typed module) with room for three decisions."""
    recorder = Recorder("/r", ())
    recorder.sites.writes = list(range(max(WRITES) + 2))
    recorder.seen.extend(bytes(6))
    return recorder


def run(novelty: Novelty, recorder: Any, case: tuple[Sequence[int], Sequence[int]]) -> None:
    writes, outcomes = case
    wrote = recorder.names()["__stackproof_wrote__"]
    for write in writes:
        wrote(write, "value")
    for outcome in outcomes:
        if not recorder.seen[outcome]:
            recorder.seen[outcome] = 1
            recorder.fresh.append(outcome)


def features(case: tuple[Sequence[int], Sequence[int]]) -> set[int]:
    writes = {WRITES.index(number) for number in case[0] if number in WRITES}
    outcomes = {
        2 * place + side for place, number in enumerate(DECISIONS) for side in (0, 1) if number + side in case[1]
    }
    pairs = {2 * len(DECISIONS) + w * len(WRITES) + v for w in writes for v in writes if v <= w}
    return outcomes | pairs


@given(PARTS)
def test_every_case_tells_what_its_stream_had_not_reached(
    parts: list[tuple[int, list[tuple[list[int], list[int]]]]],
) -> None:
    recorder = recorder_of_six()
    novelty = Novelty(recorder, WRITES, DECISIONS)
    reached: dict[int, set[int]] = {0: set(), 1: set()}
    ever = bytearray(6)
    for stream, cases in parts:
        novelty.begin(stream)
        expected = []
        for number, case in enumerate(cases):
            run(novelty, recorder, case)
            novelty.after(number)
            for outcome in case[1]:
                ever[outcome] = 1
            if fresh := features(case) - reached[stream]:
                expected.append((number, sorted(fresh)))
                reached[stream] |= fresh
        novelty.end()
        assert novelty.taken() == expected
        # Between the parts it holds what any case saw: that is what the report tells.
        assert recorder.seen == ever


def test_a_case_outside_of_streams_leaves_no_trace() -> None:
    recorder = recorder_of_six()
    novelty = Novelty(recorder, WRITES, DECISIONS)
    run(novelty, recorder, ([1, 3], [0, 2]))
    novelty.skip(0)
    assert not recorder.written and not recorder.fresh
    novelty.begin(0)
    run(novelty, recorder, ([1], [0]))
    novelty.after(7)
    novelty.end()
    assert novelty.taken() == [(7, [0, 2 * len(DECISIONS) + 1 * len(WRITES) + 1])]


@given(st.lists(st.lists(st.integers(0, 4), max_size=5), max_size=20), st.integers(1, 5))
def test_every_write_of_a_kept_case_is_counted_once(cases: list[list[int]], most: int) -> None:
    recorder = recorder_of_six()
    wrote = recorder.names()["__stackproof_wrote__"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.subjects.child.recording.recorder._MOST_SEQUENCES", most)
        for number, writes in enumerate(cases):
            for write in writes:
                wrote(write, "value")
            assert recorder.keep(number) == tuple(writes)
        wrote(0, "value")
        recorder.drop()
    total = [sum(writes.count(write) for writes in cases) for write in range(5)]
    # Asked twice: what was counted stays.
    assert recorder.counts()[:5] == recorder.counts()[:5] == total
