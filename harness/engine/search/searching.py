"""The search: the chunks of a campaign are compared, and their answers are counted in the order of the chunks.

Each chunk is made from the seed and from what the guide kept of earlier chunks. The answers of several jobs arrive in
any order, so an answer that arrives early waits for those before it. Therefore the cases, and what they are counted
as, depend on the seed and the number of cases alone: not on the number of jobs, nor on which job was faster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from harness.engine.search.crew import Workers
from harness.engine.search.guide import Guide
from harness.engine.search.plan import Answer, Budget, Chunk, Compared, Shard
from harness.generate.cases import CHUNK


class Search:
    """The search of one shard, of which ``done`` chunks are counted already.

    ``count`` gets each answer when its turn has come, and must hand its news to ``guide``.
    """

    def __init__(
        self, budget: Budget, shard: Shard, done: int, guide: Guide, count: Callable[[Compared], None]
    ) -> None:
        self._budget = budget
        self._shard = shard
        self._done = done
        self._guide = guide
        self._count = count
        self._early: dict[int, Compared] = {}

    def run(self, workers: Workers) -> bool:
        """Compare the chunks until the budget is used up; return whether a Ctrl-C ended the search early."""
        try:
            workers.work(self._chunks(), self._take)
        except KeyboardInterrupt:
            return True
        return False

    def _chunks(self) -> Iterator[Chunk | None]:
        """Yield the chunks in order; yield None while the next one depends on an answer that is still missing."""
        budget = self._budget
        end = None if budget.seconds is None else time.monotonic() + budget.seconds
        number = self._shard.chunk(self._done)
        while budget.cases is None or number * CHUNK < budget.cases:
            if end is not None and time.monotonic() >= end:
                return
            if not self._guide.ready(number):
                yield None
                continue
            count = CHUNK if budget.cases is None else min(CHUNK, budget.cases - number * CHUNK)
            yield Chunk(number, count, self._guide.bases(number))
            number += self._shard.of

    def _take(self, answer: Answer) -> None:
        """Count the answer and those that waited for it; if it came early, keep it until its turn."""
        assert isinstance(answer, Compared)
        self._early[answer.number] = answer
        while (due := self._early.pop(self._shard.chunk(self._done), None)) is not None:
            self._count(due)
            self._done += 1
