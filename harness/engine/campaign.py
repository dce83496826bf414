"""A campaign: plan, hand the chunks out, gather, minimise, judge. Same seed, same cases, same verdict.

Chunks are handed out in order, each is made from the seed and from what the guide kept of earlier ones, and answers
are taken in that order too. So what is compared depends on the seed and the number of cases alone: not on the number
of jobs, nor on which of them was faster.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from harness.engine.buckets import Buckets
from harness.engine.causes import fold, place, writes_of
from harness.engine.crew import Crew, Inline
from harness.engine.events import (
    BucketFound,
    Counts,
    Covered,
    Decided,
    Drawn,
    Finished,
    Listener,
    Minimising,
    Progressed,
    Reached,
    Started,
    Verdict,
)
from harness.engine.guide import Guide
from harness.engine.interactions import Seen
from harness.engine.plan import Answer, Budget, Chunk, Compared, Request, Shrink, Shrunk
from harness.generate.cases import CHUNK
from harness.subjects.description import Reach
from harness.subjects.names import normal_name

__all__ = ["Budget", "Request", "judge", "run_campaign"]


def run_campaign(request: Request, listener: Listener) -> Finished:
    """Run the campaign and return its result, which is also the last event that ``listener`` gets.

    Raises UsageError when a subject cannot be loaded or a field is unknown. A Ctrl-C ends the search early; what
    was found until then is minimised and returned, marked as interrupted.
    """
    with Inline(request) if request.jobs == 1 else Crew(request) as crew:
        started = crew.plan()
        listener(started)
        return _Campaign(crew, request.budget, started, listener).run()


class _Campaign:
    """The running search."""

    def __init__(self, crew: Inline | Crew, budget: Budget, started: Started, listener: Listener) -> None:
        self._crew = crew
        self._budget = budget
        self._started = started
        self._listen = listener
        self._counts = Counts()
        self._buckets = Buckets()
        self._drawn = Drawn()
        self._guide = Guide(started.seed)
        # The number of the chunk whose answer is taken next, and the answers that came before their turn.
        self._due = 0
        self._early: dict[int, Compared] = {}
        self._seen = Seen(started.space)
        self._reach = _Total(started, 0), _Total(started, 1)

    def run(self) -> Finished:
        """Search, minimise, judge."""
        interrupted = False
        try:
            self._crew.work(self._chunks(), self._take)
        except KeyboardInterrupt:
            interrupted = True
        shrunk, stopped = self._minimised()
        found = fold([answer.bucket for answer in shrunk if answer.bucket.difference.entry is None], self._runs())
        accounts = {id(answer.bucket.witness): answer.explanation for answer in shrunk}
        explained = [answer.bucket for answer in shrunk if answer.bucket.difference.entry is not None]
        used = {bucket.difference.entry for bucket in explained} | set(self._started.absent_explained.values())
        covered = self._reach[0].covered(), self._reach[1].covered()
        verdict, reason = judge(self._counts, self._started, covered)
        finished = Finished(
            verdict=verdict,
            reason=reason,
            counts=self._counts,
            buckets=tuple(found),
            explanations=tuple(accounts[id(bucket.witness)] for bucket in found),
            explained=tuple(explained),
            stale=tuple(entry.id for entry in self._started.ledger.entries if entry.id not in used),
            covered=covered,
            drawn=self._drawn,
            interactions=self._seen.total(),
            started=self._started,
            interrupted=interrupted or stopped,
        )
        self._listen(finished)
        return finished

    def _chunks(self) -> Iterator[Chunk | None]:
        """Yield the chunks, and None as long as the next one has to wait for an answer."""
        end = None if self._budget.seconds is None else time.monotonic() + self._budget.seconds
        left, number = self._budget.cases, 0
        while left is None or left > 0:
            if end is not None and time.monotonic() >= end:
                return
            if not self._guide.ready(number):
                yield None
                continue
            count = CHUNK if left is None else min(CHUNK, left)
            yield Chunk(number, count, self._guide.bases(number))
            number += 1
            left = None if left is None else left - count

    def _take(self, answer: Answer) -> None:
        assert isinstance(answer, Compared)
        self._early[answer.number] = answer
        while self._due in self._early:
            self._count(self._early.pop(self._due))
            self._due += 1

    def _count(self, answer: Compared) -> None:
        self._guide.take(answer.number, answer.news)
        self._counts.add(answer.counts)
        self._drawn.add(answer.drawn)
        self._seen.add(answer.tuples)
        for total, fresh in zip(self._reach, answer.reach, strict=True):
            total.add(fresh)
        for bucket in self._buckets.merge(answer.buckets):
            if bucket.difference.entry is None:
                self._listen(BucketFound(bucket=bucket))
        self._listen(Progressed(counts=answer.counts))

    def _runs(self) -> tuple[dict[str, int], dict[str, int]]:
        """Return for each side how often each place that writes a field ran."""
        first, second = (total.runs() for total in self._reach)
        return first, second

    def _minimised(self) -> tuple[list[Shrunk], bool]:
        """Return the minimised buckets with their explanations, and whether a Ctrl-C left some as they were."""
        found, stopped = self._buckets.all(), False
        if not found:
            return [], False
        shrunk: dict[str, Shrunk] = {}

        def take(answer: Answer) -> None:
            assert isinstance(answer, Shrunk)
            shrunk[answer.bucket.difference.key()] = answer

        try:
            self._listen(Minimising(buckets=len(found)))
            self._crew.work((Shrink(bucket) for bucket in found), take)
        except KeyboardInterrupt:
            stopped = True
        return [shrunk.get(bucket.difference.key()) or Shrunk(bucket, "") for bucket in found], stopped


class _Total:
    """What of one side ran, over all chunks."""

    def __init__(self, started: Started, side: int) -> None:
        self._started = started
        self._label = (started.first, started.second)[side]
        self._writers = started.writers[side]
        self._decisions = started.decisions[side]
        self._counts = [0] * len(self._writers)
        self._seen = [0] * len(self._decisions)

    def add(self, fresh: Reach) -> None:
        """Add what ran in one chunk."""
        self._counts = [total + count for total, count in zip(self._counts, fresh.counts, strict=True)]
        self._seen = [total | seen for total, seen in zip(self._seen, fresh.seen, strict=True)]

    def runs(self) -> dict[str, int]:
        """Return how often each place ran, and how often each function wrote each field."""
        runs: dict[str, int] = {}
        for writer, count in zip(self._writers, self._counts, strict=True):
            runs[place(writer)] = count
            runs[writes_of(writer.field, place(writer))] = runs.get(writes_of(writer.field, place(writer)), 0) + count
        return runs

    def covered(self) -> Covered:
        """Return what ran of the writers of compared fields, and of all decisions."""
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


def judge(counts: Counts, started: Started, covered: Sequence[Covered] = ()) -> tuple[Verdict, str]:
    """Return the verdict on the cases of a campaign, and its reason in words.

    A search that never came to a place that writes a gated field proves nothing about it: ``covered`` of both
    subjects tells, and a place with an excuse does not count.
    """
    fields = len(started.compared)
    if counts.different:
        return "different", f"{counts.different} of {counts.cases} cases differ"
    if counts.failed:
        return "inconclusive", f"{counts.failed} of {counts.cases} cases gave no outcome to compare"
    if not counts.resolved:
        return "inconclusive", f"none of {counts.cases} cases resolved on both sides"
    missed = [
        site
        for side in covered
        for site in side.writes
        if site.writer.field in started.gated and not site.count and not site.excuse
    ]
    if missed:
        places = "a place that writes" if len(missed) == 1 else f"{len(missed)} places that write"
        return "inconclusive", f"{counts.cases} cases agree, but {places} one of the fields never ran"
    apart = f", {counts.explained} of them but for what the ledger explains" if counts.explained else ""
    return "equivalent", f"{counts.cases} cases agree in {fields} field{'s' if fields != 1 else ''}{apart}"
