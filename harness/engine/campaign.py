"""A campaign from beginning to end: plan, search, minimise, conclude. Same seed, same cases, same verdict.

Each phase is a module of its own: `harness.engine.search.planning`, `harness.engine.search.searching`,
`harness.engine.search.minimising` and `harness.engine.judgement.conclusion`. This module runs them one after the
other, emits the events between them, and saves to the store.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence

import msgspec

from harness.engine.judgement.conclusion import concluded
from harness.engine.judgement.totals import Gathered, Totals
from harness.engine.result.events import (
    BucketFound,
    Finished,
    Listener,
    Minimising,
    Progressed,
    Saved,
    Started,
)
from harness.engine.search.crew import Crew, Inline, Workers
from harness.engine.search.interrupts import held
from harness.engine.search.minimising import minimised, unshrunk
from harness.engine.search.plan import Budget, Compared, Request, Shrunk
from harness.engine.search.searching import Search
from harness.engine.store import Store
from harness.world.case import Case

__all__ = ["Budget", "Request", "conclude_shards", "run_campaign", "run_given", "run_shard"]


def run_campaign(request: Request, listener: Listener, store: Store | None = None) -> Finished:
    """Run the campaign and return its result, which is also the last event that ``listener`` gets.

    ``store`` keeps the cases worth running again, and every few seconds a checkpoint from which a later run can go
    on. Raises UsageError when a subject cannot be loaded, a field is unknown, or the checkpoint is of another
    campaign. A Ctrl-C ends the search early; what was found until then is minimised and returned, marked as
    interrupted.
    """
    with _crew(request) as crew:
        made = crew.plan()
        started = made.started
        sums = None if store is None else store.begin(started, made.plan, (request.first, request.second))
        listener(started)
        with held():
            return _Campaign(crew, request, started, listener, Totals(started, sums), store).run()


def run_given(request: Request, cases: Sequence[Case]) -> Finished:
    """Compare the given cases and return the result; no other case is made, and no witness is minimised.

    Of the request only the two subjects, the fields and the ledger count. A few given cases prove nothing about a
    write site that they do not reach, so no write site is required. Raises UsageError like `run_campaign`.
    """
    request = dataclasses.replace(request, budget=Budget(cases=len(cases)), jobs=1)
    with Inline(request, cases) as crew:
        started = msgspec.structs.replace(crew.plan().started, gated=())
        return _Campaign(crew, request, started, lambda event: None, Totals(started), None).run()


def run_shard(request: Request, listener: Listener) -> Gathered:
    """Search the shard of the request and return its totals; `conclude_shards` minimises and judges them.

    Raises UsageError like `run_campaign`. A Ctrl-C ends the search early.
    """
    with _crew(request) as crew:
        started = crew.plan().started
        listener(started)
        totals = Totals(started, shard=request.shard)
        with held():
            interrupted = _Campaign(crew, request, started, listener, totals, None).search()
        return Gathered(sums=msgspec.structs.replace(totals.sums(), streams=[]), interrupted=interrupted)


def conclude_shards(request: Request, shards: Sequence[Gathered], listener: Listener) -> Finished:
    """Return the result of a campaign whose shards were searched separately; it equals the result of one run.

    Raises UsageError when a subject cannot be loaded, or differs from the subject that the shards were made with.
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


@dataclasses.dataclass(frozen=True)
class _Campaign:
    """The phases after the plan, and what all of them need."""

    workers: Workers
    request: Request
    started: Started
    listen: Listener
    totals: Totals
    store: Store | None

    def run(self) -> Finished:
        """Search, minimise and conclude."""
        if self.totals.chunks:
            self.listen(Progressed(counts=copy.copy(self.totals.counts)))
        interrupted = self.search()
        if self.store is not None:
            self.store.save(self.totals)
        return self.conclude(interrupted=interrupted)

    def search(self) -> bool:
        """Make and compare the cases; return whether a Ctrl-C ended the search early."""
        budget, shard = self.request.budget, self.request.shard
        return Search(budget, shard, self.totals.chunks, self.totals.guide, self._count).run(self.workers)

    def conclude(self, *, interrupted: bool) -> Finished:
        """Minimise, judge, and put the cases worth keeping into the store."""
        shrunk, stopped = self._minimised()
        finished = self._concluded(shrunk, interrupted=interrupted or stopped)
        if self.store is not None:
            self.store.keep(self.workers, self.totals, finished)
        self.listen(finished)
        return finished

    def _minimised(self) -> tuple[list[Shrunk], bool]:
        found = self.totals.buckets.all()
        if not found:
            return [], False
        try:
            self.listen(Minimising(buckets=len(found)))
        except KeyboardInterrupt:
            # A listener waits for a user or a terminal, so that a Ctrl-C may come from there too.
            return unshrunk(found), True
        return minimised(self.workers, found)

    def _concluded(self, shrunk: Sequence[Shrunk], *, interrupted: bool) -> Finished:
        return concluded(self.request, self.started, self.totals, shrunk, interrupted=interrupted)

    def _count(self, answer: Compared) -> None:
        """Add the answer to the totals; before that, save a checkpoint if one is due."""
        if self.store is not None and self.store.due(self.totals, answer):
            self.store.save(self.totals)
            so_far = unshrunk(self.totals.buckets.all())
            self.listen(Saved(result=self._concluded(so_far, interrupted=True)))
        for bucket in self.totals.add(answer):
            if bucket.difference.entry is None:
                self.listen(BucketFound(bucket=bucket))
        self.listen(Progressed(counts=answer.counts))
