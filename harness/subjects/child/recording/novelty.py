"""Finds the cases that are the first to reach something: a branch of a decision, a write, two writes in one case.

Each of these has a number, the same in every process that loaded the same tree. With ``D`` decisions and ``W`` write
sites, in the order of the description:

- ``2 * d`` is the true branch of decision ``d``, and ``2 * d + 1`` is its false branch.
- ``2 * D + w * W + v`` with ``v < w`` means that one case made both writes ``v`` and ``w``.
- ``2 * D + w * W + w`` is the write ``w`` itself.

A campaign has several *streams*, and "first" means the first case of its stream. So the streams can run in any
number of processes, and the same cases are found.
"""

from __future__ import annotations

from collections.abc import Sequence

from .recorder import Recorder

# At most this many sequences of writes are remembered as known. Another one is looked at each time, which takes time
# but finds nothing twice.
_MOST_MET = 4096


class Novelty:
    """Watches a recorder, case by case.

    ``writes`` are the recorder's numbers of the write sites in the description, ``decisions`` those of the true
    branches of its decisions. Whatever else is recorded does not count.
    """

    def __init__(self, recorder: Recorder, writes: Sequence[int], decisions: Sequence[int]) -> None:
        self._recorder = recorder
        self._writes = {number: position for position, number in enumerate(writes)}
        self._branches: dict[int, int] = {}
        for position, number in enumerate(decisions):
            self._branches[number] = 2 * position
            self._branches[number + 1] = 2 * position + 1
        self._width = len(writes)
        self._streams: dict[int, tuple[bytes, list[int], set[tuple[int, ...]]]] = {}
        self._stream: int | None = None
        # For each write a bit mask of the writes that were in one case with it, in this stream.
        self._together: list[int] = []
        # The sequences of writes that this stream has seen; they hold nothing new.
        self._met: set[tuple[int, ...]] = set()
        # Which branches were taken in any stream, in the form of ``Recorder.seen``.
        self._ever = bytearray()
        self._news: list[tuple[int, list[int]]] = []

    def clear(self) -> None:
        """Drop what was recorded outside of any batch, while describing the subject for example."""
        self._recorder.fresh.clear()
        self._recorder.drop()

    def begin(self, stream: int) -> None:
        """Count the cases that follow as cases of ``stream``, until `end`.

        With a negative ``stream`` each case counts by itself: everything that it reaches is new.
        """
        recorder = self._recorder
        self._keep()
        seen, self._together, self._met = self._streams.get(stream) or (b"", [0] * self._width, set())
        recorder.seen[:] = seen.ljust(len(recorder.seen), b"\0")
        self._stream = stream

    def end(self) -> None:
        """Keep what the stream has seen for its next batch."""
        stream, self._stream = self._stream, None
        if stream is not None:
            self._keep()
            if stream >= 0:
                self._streams[stream] = bytes(self._recorder.seen), self._together, self._met
            self._recorder.seen[:] = self._ever

    def _keep(self) -> None:
        seen = self._recorder.seen
        ever = self._ever.ljust(len(seen), b"\0")
        size = len(seen)
        # Joined as two large integers: a loop over thousands of bytes would take longer than the cases of a batch.
        both = int.from_bytes(ever, "little") | int.from_bytes(seen, "little")
        self._ever = bytearray(both.to_bytes(size, "little"))

    def after(self, number: int) -> None:
        """Note what case ``number``, which has just ended, was the first of the stream to reach."""
        recorder = self._recorder
        found = []
        if recorder.fresh:
            branches = self._branches
            found = [branches[number] for number in recorder.fresh if number in branches]
            recorder.fresh.clear()
        # Most cases make the same writes as an earlier one, and then no pair of them is new.
        wrote = recorder.keep(number)
        if wrote and wrote not in self._met:
            if len(self._met) < _MOST_MET:
                self._met.add(wrote)
            known = self._writes
            hit = {known[write] for write in wrote if write in known}
            mask = 0
            for write in hit:
                mask |= 1 << write
            together = self._together
            for write in hit:
                fresh = mask & ~together[write]
                if fresh:
                    together[write] |= fresh
                    found += self._pairs(write, fresh & ((2 << write) - 1))
        if found:
            self._news.append((number, sorted(found)))
        if self._stream is not None and self._stream < 0:
            self._keep()
            recorder.seen[:] = bytes(len(recorder.seen))
            self._together, self._met = [0] * self._width, set()

    def skip(self, number: int) -> None:
        """Keep the writes of case ``number``, but count it in no stream, since it is no part of a campaign."""
        self._recorder.fresh.clear()
        self._recorder.keep(number)

    def _pairs(self, write: int, others: int) -> list[int]:
        """Return the number of each pair of ``write`` and a write in the bit mask ``others``."""
        first = len(self._branches) + write * self._width
        pairs = []
        while others:
            low = others & -others
            pairs.append(first + low.bit_length() - 1)
            others ^= low
        return pairs

    def taken(self) -> list[tuple[int, list[int]]]:
        """Return ``(case, numbers of what it reached)`` for each case that reached something new, and forget them."""
        news, self._news = self._news, []
        return news

    def forget(self) -> None:
        """Forget everything."""
        self._streams.clear()
        self._ever = bytearray()
        self._news.clear()
        self.clear()
