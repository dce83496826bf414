"""One job of a campaign: it runs tasks on its own pair of subjects."""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.difference.compare import explain
from harness.engine.difference.minimise import minimise_all
from harness.engine.search.guide import STREAMS
from harness.engine.search.interactions import Tally
from harness.engine.search.news import Newsroom
from harness.engine.search.pair import Pair
from harness.engine.search.plan import Answer, Chunk, Compared, Plan, Shrink, Shrunk, Task, Weigh, Weighed
from harness.generate.cases import CHUNK, CaseMaker
from harness.generate.covering.parameters import parameters_of
from harness.subjects.child.serve.operations import ALONE
from harness.world.case import Case


class Job:
    """Runs tasks in this process on an open pair of subjects.

    If cases are ``given``, the chunks are parts of these cases, and no witness is minimised.
    """

    def __init__(self, plan: Plan, pair: Pair, given: Sequence[Case] | None = None) -> None:
        self._given = given
        self._plan = plan
        self._pair = pair
        self._pair.compare_fields(plan.compared, alone=plan.fields_alone, ledger=plan.ledger)
        self._maker = CaseMaker(plan.domains, plan.launches)
        self._tally = Tally(parameters_of(plan.domains))
        self._newsroom = Newsroom()

    def run(self, task: Task) -> Answer:
        """Return the task's answer; raises UsageError when a subject can no longer be opened."""
        if isinstance(task, Chunk):
            return self._compare(task)
        if isinstance(task, Weigh):
            return self._weigh(task)
        return self._shrink(task)

    def _compare(self, task: Chunk) -> Compared:
        cases = self._cases(task)
        stream = task.number % STREAMS
        ran = self._pair.run(cases, stream)
        reach = self._pair.reach()
        return Compared(
            number=task.number,
            counts=ran.counts,
            buckets=ran.buckets,
            breakdown=ran.breakdown,
            reach=reach,
            tuples=self._tally.add(cases),
            news=self._newsroom.of(stream, cases, ran.frames, ran.found, reach),
        )

    def _weigh(self, task: Weigh) -> Weighed:
        ran = self._pair.run(task.cases, ALONE)
        news = Newsroom().of(ALONE, task.cases, ran.frames, ran.found, self._pair.reach())
        return Weighed(news)

    def _cases(self, task: Chunk) -> Sequence[Case]:
        if self._given is not None:
            return self._given[task.number * CHUNK :][: task.count]
        return self._maker.chunk(self._plan.seed, task.number, task.bases)[: task.count]

    def _shrink(self, task: Shrink) -> Shrunk:
        bucket = task.bucket
        key = bucket.difference.key()

        def shows(cases: Sequence[Case]) -> list[bool]:
            return [any(d.key() == key for d in found) for found in self._pair.differences(cases)]

        # A case that kills or hangs the process is not minimised: each attempt would cost a new process, or the time
        # limit of a case.
        if self._given is None and (bucket.difference.failures is None or "unanswered" in bucket.difference.failures):
            bucket.witness, *bucket.others = minimise_all(
                [bucket.witness, *bucket.others], shows, self._plan.domains.architectures
            )
        outcomes = self._pair.outcomes(bucket.witness)
        return Shrunk(bucket, explain(bucket.difference, *outcomes), self._pair.witness_trace(bucket, outcomes))
