"""Guidance: cases that reached something new are kept, and later cases vary them.

A campaign is several *streams*: chunk ``n`` is number ``n // STREAMS`` of stream ``n % STREAMS``. What a chunk varies
depends on earlier chunks of its own stream alone, and on none of the last few of them, so that several can be under
way at once. So one process or several machines can search the streams, and the cases are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from harness.generate.cases import CHUNK
from harness.generate.chance.draw import SeededDraw
from harness.generate.chance.streams import kept_stream
from harness.world.case import Case

STREAMS: Final = 4
VARIED: Final = CHUNK // 10
"""How many of the cases of a chunk vary a kept one, once there are any."""

# Half of the varied cases come from this number of the newest kept ones. Cases that reach what is easy to reach are
# kept first and are many, so that a draw from all would rarely vary the few that came deep. Those are late, and stay
# among the newest for long, since a campaign keeps fewer and fewer cases.
_NEWEST: Final = 64


class News(msgspec.Struct, frozen=True):
    """A case that was the first of its job and stream to reach something.

    ``reached`` numbers what it reached in the source (even ones of the first subject, odd ones of the second), and
    ``checks`` are the checks that refused it and the differences that it showed.
    """

    case: Case
    reached: list[int] = []
    checks: list[str] = []


class Kept(msgspec.Struct, frozen=True):
    """A case worth keeping, the ``index`` of its chunk in the stream, and what it was the first to reach."""

    index: int
    news: News


class StreamState(msgspec.Struct):
    """The state of one stream: how many of its chunks are done, and the kept cases in their order."""

    done: int = 0
    kept: list[Kept] = []


class Guide:
    """Keeps the cases that reached something new, and picks those that later chunks vary."""

    def __init__(self, seed: int, states: Iterable[StreamState] = ()) -> None:
        self._seed = seed
        self._streams = [_Stream(state) for state in states] or [_Stream(StreamState()) for _ in range(STREAMS)]

    def ready(self, number: int) -> bool:
        """Return whether all chunks have been taken on whose cases chunk ``number`` depends."""
        index, stream = divmod(number, STREAMS)
        return self._streams[stream].state.done > index - _lag(index)

    def bases(self, number: int) -> list[Case]:
        """Return the ``VARIED`` kept cases that chunk ``number`` varies; empty if no case was kept yet."""
        index, stream = divmod(number, STREAMS)
        known = self._streams[stream].until(index - _lag(index))
        if not known:
            return []
        # Every other pick is from the newest, see `_NEWEST`.
        draw = SeededDraw(self._seed, kept_stream(number))
        newest = known[-_NEWEST:]
        return [draw.pick(newest if turn % 2 else known).news.case for turn in range(VARIED)]

    def take(self, number: int, news: Iterable[News]) -> None:
        """Keep what chunk ``number`` was the first of its stream to reach; the chunks of a stream come in order."""
        index, stream = divmod(number, STREAMS)
        self._streams[stream].take(index, news)

    def kept(self) -> Iterator[News]:
        """Yield the kept cases of all streams."""
        for stream in self._streams:
            yield from (kept.news for kept in stream.state.kept)

    def states(self) -> list[StreamState]:
        """Return the states from which another `Guide` can go on."""
        return [stream.state for stream in self._streams]


def _lag(index: int) -> int:
    """Return the lag of a chunk: it varies only cases that its stream kept at least that many chunks before it.

    With a lag of 1 a chunk would use all that is known. But then only one chunk of a stream could be under way, and
    the jobs would wait for the slowest. 2 is the least that lets two be under way. The lag grows with the campaign,
    by a quarter of its length, so that many jobs have work. A late chunk loses little by it, because most cases are
    kept early. The lag depends on the index alone: if it depended on the number of jobs, so would the cases.
    """
    return 2 + index // 4


class _Stream:
    """The kept cases of one stream, and everything that they reached."""

    def __init__(self, state: StreamState) -> None:
        self.state = state
        self._reached = {number for kept in state.kept for number in kept.news.reached}
        self._checks = {check for kept in state.kept for check in kept.news.checks}
        # How many cases were kept after each chunk.
        self._counts = [0]
        for index in range(state.done):
            self._counts.append(self._counts[-1] + sum(1 for kept in state.kept if kept.index == index))

    def until(self, index: int) -> list[Kept]:
        """Return what was kept of the chunks up to and with ``index``."""
        return self.state.kept[: self._counts[index + 1]] if index >= 0 else []

    def take(self, index: int, news: Iterable[News]) -> None:
        """Keep the cases that were the first of the stream to reach something; ``index`` must be the next chunk."""
        # A job reports what was new to itself, so several jobs may report the same; only the first one counts here.
        assert index == self.state.done, f"chunk {index} of a stream came when {self.state.done} was due"
        for one in news:
            reached = [number for number in one.reached if number not in self._reached]
            checks = [check for check in one.checks if check not in self._checks]
            if reached or checks:
                self._reached.update(reached)
                self._checks.update(checks)
                self.state.kept.append(Kept(index, News(one.case, reached, checks)))
        self.state.done += 1
        self._counts.append(len(self.state.kept))
