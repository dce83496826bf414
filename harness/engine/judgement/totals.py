"""The totals of a campaign: the answers to its chunks, added up in the order of the chunks.

What the guide keeps depends on that order. Everything else is a sum, a union or a minimum, so that shards can be
joined in any order.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from harness.common.errors import UsageError
from harness.engine.difference.buckets import Bucket, Buckets
from harness.engine.difference.folding import Runs
from harness.engine.result.breakdown import Breakdown
from harness.engine.result.events import Counts, Covered, Decided, Reached, Started
from harness.engine.search.guide import Guide, StreamState
from harness.engine.search.interactions import Seen, SeenState
from harness.engine.search.plan import Compared, Shard
from harness.formats.subjectname import normal_name
from harness.subjects.child.serve.operations import ReachReport
from harness.world.chain import Place


class Sums(msgspec.Struct, kw_only=True):
    """The totals of the first ``chunks`` chunks as plain data, for a checkpoint or a shard's file."""

    chunks: int
    counts: Counts
    buckets: list[Bucket]
    breakdown: Breakdown
    reach: tuple[ReachReport, ReachReport]
    seen: SeenState
    streams: list[StreamState]


class Gathered(msgspec.Struct, frozen=True, kw_only=True):
    """The totals of one shard, and whether it was interrupted. The streams are left out: no search continues it."""

    sums: Sums
    interrupted: bool


class Totals:
    """The totals so far of one shard, by default the only one; they begin with ``sums`` if there are any."""

    def __init__(self, started: Started, sums: Sums | None = None, shard: Shard | None = None) -> None:
        self._started = started
        self._shard = shard or Shard()
        self.chunks = 0 if sums is None else sums.chunks
        self.counts = Counts() if sums is None else sums.counts
        self.buckets = Buckets()
        self.buckets.merge(() if sums is None else sums.buckets)
        self.breakdown = Breakdown() if sums is None else sums.breakdown
        self.guide = Guide(started.seed, () if sums is None else sums.streams)
        self.seen = Seen(started.space, None if sums is None else sums.seen)
        self.reach = _Side(started, 0), _Side(started, 1)
        for side, before in zip(self.reach, () if sums is None else sums.reach, strict=False):
            side.add(before)

    @property
    def due(self) -> int:
        """The number of the chunk that comes next."""
        return self._shard.chunk(self.chunks)

    def add(self, answer: Compared) -> list[Bucket]:
        """Add the answer to the next chunk; return the buckets that are new."""
        assert answer.number == self.due, f"chunk {answer.number} came when {self.due} was due"
        self.chunks += 1
        self.guide.take(answer.number, answer.news)
        self.counts.add(answer.counts)
        self.breakdown.add(answer.breakdown)
        self.seen.add(answer.tuples)
        for side, fresh in zip(self.reach, answer.reach, strict=True):
            side.add(fresh)
        return self.buckets.merge(answer.buckets)

    def join(self, shard: Sums) -> None:
        """Add the totals of another shard; raises UsageError if they belong to other subjects.

        No chunk can be added afterwards.
        """
        try:
            for side, reach in zip(self.reach, shard.reach, strict=True):
                side.add(reach)
            self.seen.join(shard.seen)
        except ValueError:
            raise UsageError("the shards are not of the subjects as they are here, run them again") from None
        self.chunks += shard.chunks
        self.counts.add(shard.counts)
        self.breakdown.add(shard.breakdown)
        self.buckets.merge(shard.buckets)

    def sums(self) -> Sums:
        """Return the data from which ``Totals`` can continue."""
        return Sums(
            chunks=self.chunks,
            counts=self.counts,
            buckets=self.buckets.all(),
            breakdown=self.breakdown,
            reach=(self.reach[0].total(), self.reach[1].total()),
            seen=self.seen.state(),
            streams=self.guide.states(),
        )

    def covered(self) -> tuple[Covered, Covered]:
        """Return what ran of each side."""
        return self.reach[0].covered(), self.reach[1].covered()

    def runs(self) -> tuple[Runs, Runs]:
        """Return for each side how often each place that writes a field ran."""
        return self.reach[0].runs(), self.reach[1].runs()


class _Side:
    """Counts what ran of one side: each write site, and the branches of each decision."""

    def __init__(self, started: Started, side: int) -> None:
        self._started = started
        self._label = (started.first, started.second)[side]
        self._writers = started.writers[side]
        self._decisions = started.decisions[side]
        self._counts = [0] * len(self._writers)
        self._seen = [0] * len(self._decisions)

    def add(self, fresh: ReachReport) -> None:
        """Add what ran in one chunk."""
        self._counts = _with(self._counts, fresh.counts)
        self._seen = [total | seen for total, seen in zip(self._seen, fresh.seen, strict=True)]

    def total(self) -> ReachReport:
        """Return the sums over all chunks."""
        return ReachReport(counts=self._counts, seen=self._seen)

    def runs(self) -> Runs:
        """Return how often each place ran, and how often each function wrote each field.

        Folding needs both: a chain and a reach report may name different lines of one pass.
        """
        runs: dict[Place | tuple[str, str], int] = {}
        for writer, count in zip(self._writers, self._counts, strict=True):
            function = writer.field, writer.source
            runs[writer.place] = count
            runs[function] = runs.get(function, 0) + count
        return runs

    def covered(self) -> Covered:
        """Return how often the writers of compared fields ran, and which branches of all decisions."""
        started = self._started
        excuses = [site for site in started.ledger.unreached if site.subject == normal_name(self._label)]
        return Covered(
            writes=tuple(
                Reached(
                    writer=writer,
                    count=count,
                    excuse=next((site.reason for site in excuses if site.excuses(writer)), writer.excuse),
                )
                for writer, count in zip(self._writers, self._counts, strict=True)
                if writer.field in started.compared or writer.field in started.absent
            ),
            decisions=tuple(
                Decided(decision=decision, seen=seen)
                for decision, seen in zip(self._decisions, self._seen, strict=True)
            ),
        )


def _with(first: Iterable[int], second: Iterable[int]) -> list[int]:
    return [one + other for one, other in zip(first, second, strict=True)]
