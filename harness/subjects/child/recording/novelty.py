"""What a case is the first to reach: an outcome of a decision, a write, two writes in one case.

Each is a number, the same in every process that loaded the same tree: ``2 * d`` and ``2 * d + 1`` are decision
``d`` being true and false, in the order of the description; behind these comes ``w * W + v`` for writes ``v <= w`` of
``W``. A campaign has several *streams*, and "first" means first in one of them, so that streams can run apart.
"""

_MOST_MET = 4096


class Novelty:
    """Watches a recorder, case by case.

    ``writes`` and ``decisions`` are the recorder's numbers of the described writes and of the decisions' first
    outcomes; what else is recorded does not count.
    """

    def __init__(self, recorder, writes, decisions):
        self._recorder = recorder
        self._writes = {number: position for position, number in enumerate(writes)}
        self._outcomes = {}
        for position, number in enumerate(decisions):
            self._outcomes[number] = 2 * position
            self._outcomes[number + 1] = 2 * position + 1
        self._width = len(writes)
        self._streams = {}
        self._stream = None
        # What any case ever saw, whatever the stream.
        self._ever = bytearray()
        self._news = []

    def clear(self):
        """Drop what was recorded outside of any batch."""
        self._recorder.fresh.clear()
        self._recorder.drop()

    def begin(self, stream):
        """Count what follows for ``stream``, until ``end``; in a negative one each case stands alone."""
        recorder = self._recorder
        self._keep()
        # For each write a mask of those that were in one case with it.
        seen, self._together, self._met = self._streams.get(stream) or (b"", [0] * self._width, set())
        recorder.seen[:] = seen.ljust(len(recorder.seen), b"\0")
        self._stream = stream

    def end(self):
        """Keep what the stream has seen for its next part."""
        stream, self._stream = self._stream, None
        if stream is not None:
            self._keep()
            if stream >= 0:
                self._streams[stream] = bytes(self._recorder.seen), self._together, self._met
            self._recorder.seen[:] = self._ever

    def _keep(self):
        seen = self._recorder.seen
        ever = self._ever.ljust(len(seen), b"\0")
        size = len(seen)
        both = int.from_bytes(ever, "little") | int.from_bytes(seen, "little")
        self._ever = bytearray(both.to_bytes(size, "little"))

    def after(self, number):
        """Take note of what case ``number`` was the first of the stream to reach."""
        recorder = self._recorder
        found = []
        if recorder.fresh:
            outcomes = self._outcomes
            found = [outcomes[outcome] for outcome in recorder.fresh if outcome in outcomes]
            recorder.fresh.clear()
        # Most cases write what another one wrote, and so nothing new.
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
        if self._stream < 0:
            self._keep()
            recorder.seen[:] = bytes(len(recorder.seen))
            self._together, self._met = [0] * self._width, set()

    def skip(self, number):
        """Take no note of what case ``number``, which is no part of a campaign, was the first to reach."""
        self._recorder.fresh.clear()
        self._recorder.keep(number)

    def _pairs(self, write, others):
        first = len(self._outcomes) + write * self._width
        pairs = []
        while others:
            low = others & -others
            pairs.append(first + low.bit_length() - 1)
            others ^= low
        return pairs

    def taken(self):
        """Return ``(number, features)`` of each case that reached something new, and forget them."""
        news, self._news = self._news, []
        return news

    def forget(self):
        """Forget everything."""
        self._streams.clear()
        self._ever = bytearray()
        self._news.clear()
        self.clear()
