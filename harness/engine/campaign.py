"""A campaign: plan, hand the chunks out, gather, minimise, judge. Same seed, same cases, same verdict.

Chunks are handed out in order, each is made from the seed and from what the guide kept of earlier ones, and answers
are taken in that order too. So what is compared depends on the seed and the number of cases alone: not on the number
of jobs, nor on which of them was faster.
"""

from __future__ import annotations

import copy
import dataclasses
import time
from collections.abc import Iterator, Sequence

import msgspec

from harness.engine.difference.folding import fold
from harness.engine.judgement.evidence import excerpts_of
from harness.engine.judgement.totals import Gathered, Totals
from harness.engine.judgement.verdict import judge
from harness.engine.result.events import (
    BucketFound,
    Finished,
    Listener,
    Minimising,
    Progressed,
    Saved,
    Started,
)
from harness.engine.search.crew import Crew, Inline
from harness.engine.search.interrupts import held
from harness.engine.search.plan import Answer, Budget, Chunk, Compared, Request, Shrink, Shrunk
from harness.engine.store import Store
from harness.generate.cases import CHUNK
from harness.world.case import Case

__all__ = ["Budget", "Request", "conclude_shards", "run_campaign", "run_given", "run_shard"]


def run_campaign(request: Request, listener: Listener, store: Store | None = None) -> Finished:
    """Run the campaign and return its result, which is also the last event that ``listener`` gets.

    What is worth keeping goes to ``store``, and now and then a checkpoint, from which a later run goes on. Raises
    UsageError when a subject cannot be loaded, a field is unknown, or the checkpoint is of another campaign. A Ctrl-C
    ends the search early; what was found until then is minimised and returned, marked as interrupted.
    """
    with _crew(request) as crew:
        made = crew.plan()
        started = made.started
        sums = None if store is None else store.begin(started, made.plan, (request.first, request.second))
        listener(started)
        with held():
            return _Campaign(crew, request, started, listener, Totals(started, sums), store).run()


def run_given(request: Request, cases: Sequence[Case]) -> Finished:
    """Compare the given cases and return the result: none is drawn, and each witness stays as it is.

    Of the request the two subjects, the fields and the ledger count. What the cases do not come to says nothing about
    them, so no field is held to its write sites. Raises UsageError like `run_campaign`.
    """
    request = dataclasses.replace(request, budget=Budget(cases=len(cases)), jobs=1)
    with Inline(request, cases) as crew:
        started = msgspec.structs.replace(crew.plan().started, gated=())
        return _Campaign(crew, request, started, lambda event: None, Totals(started), None).run()


def run_shard(request: Request, listener: Listener) -> Gathered:
    """Search the shard of the request and return what it came to; nothing is minimised or judged yet.

    Raises UsageError as `run_campaign` does. A Ctrl-C ends the search early.
    """
    with _crew(request) as crew:
        started = crew.plan().started
        listener(started)
        totals = Totals(started, shard=request.shard)
        with held():
            interrupted = _Campaign(crew, request, started, listener, totals, None).search()
        return Gathered(sums=msgspec.structs.replace(totals.sums(), streams=[]), interrupted=interrupted)


def conclude_shards(request: Request, shards: Sequence[Gathered], listener: Listener) -> Finished:
    """Return the result of a campaign whose shards were searched apart: that of one run of all.

    Raises UsageError when a subject cannot be loaded, or is not the one that the shards are of.
    """
    with _crew(request) as crew:
        started = crew.plan().started
        listener(started)
        totals = Totals(started)
        for shard in shards:
            totals.join(shard.sums)
        listener(Progressed(counts=copy.copy(totals.counts)))
        campaign = _Campaign(crew, request, started, listener, totals, None)
        with held():
            return campaign.conclude(interrupted=any(shard.interrupted for shard in shards))


def _crew(request: Request) -> Inline | Crew:
    return Inline(request) if request.jobs == 1 else Crew(request)


class _Campaign:
    """The running search."""

    def __init__(
        self,
        crew: Inline | Crew,
        request: Request,
        started: Started,
        listener: Listener,
        totals: Totals,
        store: Store | None,
    ) -> None:
        self._crew = crew
        self._request = request
        self._started = started
        self._listen = listener
        self._totals = totals
        self._store = store
        # The answers that came before their turn.
        self._early: dict[int, Compared] = {}

    def run(self) -> Finished:
        """Search, minimise, judge."""
        if self._totals.chunks:
            self._listen(Progressed(counts=copy.copy(self._totals.counts)))
        interrupted = self.search()
        if self._store is not None:
            self._store.save(self._totals)
        return self.conclude(interrupted=interrupted)

    def search(self) -> bool:
        """Make and compare the cases; return whether a Ctrl-C ended that."""
        try:
            self._crew.work(self._chunks(), self._take)
        except KeyboardInterrupt:
            return True
        return False

    def conclude(self, *, interrupted: bool) -> Finished:
        """Minimise and judge what was compared."""
        shrunk, stopped = self._minimised()
        finished = self._finished(shrunk, interrupted=interrupted or stopped)
        if self._store is not None:
            self._store.keep(self._crew, self._totals, finished)
        self._listen(finished)
        return finished

    def _finished(self, shrunk: Sequence[Shrunk], *, interrupted: bool) -> Finished:
        """Return the result of what was compared so far."""
        totals, started = self._totals, self._started
        found = fold([answer.bucket for answer in shrunk if answer.bucket.difference.entry is None], totals.runs())
        accounts = {id(answer.bucket.witness): answer for answer in shrunk}
        explained = [answer.bucket for answer in shrunk if answer.bucket.difference.entry is not None]
        used = {bucket.difference.entry for bucket in explained} | set(started.absent_explained.values())
        traces = tuple(accounts[id(bucket.witness)].trace for bucket in found)
        covered = totals.covered()
        verdict, reason = judge(totals.counts, started, covered)
        return Finished(
            verdict=verdict,
            reason=reason,
            counts=copy.copy(totals.counts),
            buckets=tuple(found),
            explanations=tuple(accounts[id(bucket.witness)].explanation for bucket in found),
            traces=traces,
            explained=tuple(explained),
            stale=tuple(entry.id for entry in started.ledger.entries if entry.id not in used),
            covered=covered,
            excerpts=excerpts_of(self._request, [bucket.difference for bucket in found], traces, covered),
            breakdown=copy.deepcopy(totals.breakdown),
            interactions=totals.seen.total(),
            started=started,
            interrupted=interrupted,
        )

    def _chunks(self) -> Iterator[Chunk | None]:
        """Yield the chunks, and None as long as the next one has to wait for an answer."""
        budget = self._request.budget
        end = None if budget.seconds is None else time.monotonic() + budget.seconds
        number = self._totals.due
        while budget.cases is None or number * CHUNK < budget.cases:
            if end is not None and time.monotonic() >= end:
                return
            if not self._totals.guide.ready(number):
                yield None
                continue
            count = CHUNK if budget.cases is None else min(CHUNK, budget.cases - number * CHUNK)
            yield Chunk(number, count, self._totals.guide.bases(number))
            number += self._request.shard.of

    def _take(self, answer: Answer) -> None:
        assert isinstance(answer, Compared)
        self._early[answer.number] = answer
        while self._totals.due in self._early:
            self._count(self._early.pop(self._totals.due))

    def _count(self, answer: Compared) -> None:
        if self._store is not None and self._store.due(self._totals, answer):
            self._store.save(self._totals)
            unshrunk = [Shrunk(bucket.copied(), "") for bucket in self._totals.buckets.all()]
            self._listen(Saved(result=self._finished(unshrunk, interrupted=True)))
        for bucket in self._totals.add(answer):
            if bucket.difference.entry is None:
                self._listen(BucketFound(bucket=bucket))
        self._listen(Progressed(counts=answer.counts))

    def _minimised(self) -> tuple[list[Shrunk], bool]:
        """Return the minimised buckets with their explanations, and whether a Ctrl-C left some as they were."""
        found, stopped = [bucket.copied() for bucket in self._totals.buckets.all()], False
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
