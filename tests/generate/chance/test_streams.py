"""No two streams of a campaign draw the same numbers."""

from __future__ import annotations

from pathlib import Path

import harness
from harness.generate.chance.streams import Stream, chunk_stream, kept_stream, round_stream

FEW, MANY = 3000, 10**12


def test_no_two_streams_are_equal() -> None:
    streams = [
        *Stream,
        *map(chunk_stream, range(FEW)),
        *map(kept_stream, range(FEW)),
        *(round_stream(deck, number) for deck in (1, 2) for number in range(FEW)),
    ]
    assert len(streams) == len(set(streams))


def test_blocks_of_streams_do_not_meet_in_the_longest_campaign() -> None:
    ends = [kept_stream(MANY), kept_stream(0), min(Stream), max(Stream), chunk_stream(0), chunk_stream(MANY)]
    rounds = [end for deck in (1, 2) for end in (round_stream(deck, 0), round_stream(deck, MANY))]
    assert [*ends, *rounds] == sorted({*ends, *rounds})


def test_nothing_draws_from_a_stream_by_its_number() -> None:
    numbered = [
        file.name
        for file in Path(harness.__file__).parent.rglob("*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if "SeededDraw(" in line and "Stream." not in line and "_stream(" not in line and "class " not in line
    ]
    assert numbered == []
