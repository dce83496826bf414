"""A campaign: plan, hand the chunks out, gather, minimise, judge. Same seed, same cases, same verdict.

Chunks are handed out in order and each is made from its own stream, so what is compared depends on the seed and
the number of cases alone: not on the number of jobs, nor on which of them was faster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import wait

from harness.engine.buckets import Bucket, Buckets
from harness.engine.events import (
    BucketFound,
    Counts,
    Finished,
    Listener,
    Minimising,
    Progressed,
    Started,
    Verdict,
)
from harness.engine.job import Job
from harness.engine.pair import Pair
from harness.engine.plan import Answer, Chunk, Compared, Plan, Shrink, Shrunk, Task
from harness.engine.worker import Worker, WorkerDied
from harness.errors import UsageError, hint
from harness.generate.cases import CHUNK
from harness.generate.domains import domains_of
from harness.subjects.description import Description
from harness.subjects.subject import SubjectSpec, TreeSubject
from harness.world.case import Case
from harness.world.launch import split_launch
from harness.world.profiles import hardware_profile, model_profile, real_launches

# A worker that ends without a word is replaced; one task that ends this many is given up on.
_TRIES = 3


@dataclass(frozen=True)
class Budget:
    """How long to go on: a number of cases, or seconds, whichever ends first; at least one is set."""

    cases: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Request:
    """What a user asked for: two subjects, the fields to gate (all when empty), budget, seed and jobs."""

    first: SubjectSpec
    second: SubjectSpec
    fields: tuple[str, ...] = ()
    budget: Budget = field(default_factory=Budget)
    seed: int = 0
    jobs: int = 1


def run_campaign(request: Request, listener: Listener) -> Finished:
    """Run the campaign and return its result, which is also the last event that ``listener`` gets.

    Raises UsageError when a subject cannot be loaded or a field is unknown. A Ctrl-C ends the search early; what
    was found until then is minimised and returned, marked as interrupted.
    """
    with Pair(request.first, request.second) as pair:
        descriptions = _describe(pair)
        compared, absent = _fields(request, descriptions)
        launches, notes = _launches(pair, descriptions)
        values = {**request.second.profile["values"], **request.first.profile["values"]}
        plan = Plan(
            first=request.first,
            second=request.second,
            compared=compared,
            seed=request.seed,
            domains=domains_of(*descriptions, values, request.first.profile["not_drawn"]),
            launches=launches,
        )
        started = Started(
            first=request.first.label,
            second=request.second.label,
            identities=(request.first.tree.identity, request.second.tree.identity),
            compared=compared,
            absent=absent,
            seed=request.seed,
            jobs=request.jobs,
            cases=request.budget.cases,
            seconds=request.budget.seconds,
            notes=tuple(notes),
            flags={name: spec.flags[0] for name, spec in descriptions[0].fields.items() if spec.flags},
        )
        listener(started)
        crew = _Inline(Job(plan, pair)) if request.jobs == 1 else _Crew(plan, request.jobs)
        try:
            return _Campaign(crew, request.budget, started, listener).run()
        finally:
            crew.close()


def _describe(pair: Pair) -> tuple[Description, Description]:
    """Load both trees at the same time; their processes do the work."""
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(TreeSubject.describe, (pair.first, pair.second))
    return first, second


def _fields(
    request: Request, descriptions: tuple[Description, Description]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the outcome fields that both have, and whose subject lacks each of the others."""
    first, second = (description.resolved for description in descriptions)
    every = [*first, *(name for name in second if name not in first)]
    wanted = request.fields or tuple(every)
    for name in wanted:
        if name not in every:
            raise UsageError(
                f"--field {name}: no outcome of {request.first.label} or {request.second.label} has this field"
                f"{hint(name, every)}"
            )
    absent = {name: request.second.label for name in wanted if name not in second}
    absent |= {name: request.first.label for name in wanted if name not in first}
    compared = tuple(name for name in every if name in wanted and name not in absent)
    if not compared:
        lacking = ", ".join(f"{name} (not in {label})" for name, label in absent.items())
        raise UsageError(f"--field: nothing is left to compare, since both subjects must have a field: {lacking}")
    return compared, absent


def _launches(pair: Pair, descriptions: tuple[Description, Description]) -> tuple[tuple[Case, ...], list[str]]:
    """Return the real launches as cases, and a note on each that one of the subjects cannot take."""
    cases, notes = [], []
    for launch in real_launches():
        where = f"real launch {launch.id}"
        line = split_launch(launch.command, where)
        try:
            args = pair.first.parse(line.argv, where)
        except UsageError as error:
            notes.append(f"left out: {error}")
            continue
        strange = [name for name in args if name not in descriptions[1].fields]
        if strange:
            notes.append(f"left out: {where} sets {strange[0]}, which {pair.second.spec.label} does not have")
            continue
        cases.append(
            Case(
                id=launch.id,
                args=args,
                hardware=hardware_profile(launch.hardware),
                model=model_profile(launch.model),
                env={**launch.env, **line.env},
            )
        )
    return tuple(cases), notes


class _Campaign:
    """The running search."""

    def __init__(self, crew: _Inline | _Crew, budget: Budget, started: Started, listener: Listener) -> None:
        self._crew = crew
        self._budget = budget
        self._started = started
        self._listen = listener
        self._counts = Counts()
        self._buckets = Buckets()

    def run(self) -> Finished:
        """Search, minimise, judge."""
        interrupted = False
        try:
            self._crew.work(self._chunks(), self._take)
        except KeyboardInterrupt:
            interrupted = True
        buckets, explanations = self._minimised()
        verdict, reason = judge(self._counts, bool(buckets))
        finished = Finished(
            verdict=verdict,
            reason=reason,
            counts=self._counts,
            buckets=tuple(buckets),
            explanations=tuple(explanations),
            started=self._started,
            interrupted=interrupted,
        )
        self._listen(finished)
        return finished

    def _chunks(self) -> Iterator[Chunk]:
        end = None if self._budget.seconds is None else time.monotonic() + self._budget.seconds
        left, number = self._budget.cases, 0
        while left is None or left > 0:
            if end is not None and time.monotonic() >= end:
                return
            count = CHUNK if left is None else min(CHUNK, left)
            yield Chunk(number, count)
            number += 1
            left = None if left is None else left - count

    def _take(self, answer: Answer) -> None:
        assert isinstance(answer, Compared)
        self._counts.add(answer.counts)
        for bucket in self._buckets.merge(answer.buckets):
            self._listen(BucketFound(bucket=bucket))
        self._listen(Progressed(counts=answer.counts))

    def _minimised(self) -> tuple[list[Bucket], list[str]]:
        found = self._buckets.all()
        if not found:
            return [], []
        self._listen(Minimising(buckets=len(found)))
        shrunk: dict[str, Shrunk] = {}

        def take(answer: Answer) -> None:
            assert isinstance(answer, Shrunk)
            shrunk[answer.bucket.difference.key()] = answer

        self._crew.work((Shrink(bucket) for bucket in found), take)
        ordered = [shrunk[bucket.difference.key()] for bucket in found]
        return [answer.bucket for answer in ordered], [answer.explanation for answer in ordered]


def judge(counts: Counts, any_bucket: bool) -> tuple[Verdict, str]:
    """Return the verdict and its reason in words."""
    if counts.different:
        return "different", f"{counts.different} of {counts.cases} cases differ"
    if counts.failed:
        return "inconclusive", f"{counts.failed} of {counts.cases} cases gave no outcome to compare"
    if not counts.resolved:
        return "inconclusive", f"none of {counts.cases} cases resolved on both sides"
    assert not any_bucket
    return "equivalent", f"{counts.cases} cases agree"


class _Inline:
    """One job, in this process."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def work(self, tasks: Iterator[Task], take: Callable[[Answer], None]) -> None:
        """Run the tasks one after the other."""
        for task in tasks:
            take(self._job.run(task))

    def close(self) -> None:
        """End the job."""
        self._job.close()


class _Crew:
    """Several jobs, each in a process of its own."""

    def __init__(self, plan: Plan, size: int) -> None:
        self._plan = plan
        self._workers = [Worker(plan) for _ in range(size)]

    def work(self, tasks: Iterator[Task], take: Callable[[Answer], None]) -> None:
        """Hand the tasks out in order, each to the next free worker; returns when all are answered."""
        idle, busy = list(self._workers), dict[Worker, tuple[Task, int]]()
        again: list[tuple[Task, int]] = []
        try:
            while True:
                while idle:
                    entry = again.pop() if again else next(((task, 1) for task in tasks), None)
                    if entry is None:
                        break
                    worker = idle.pop()
                    busy[worker] = entry
                    self._send(worker, entry, busy, idle, again)
                if not busy:
                    return
                for worker in _ready(list(busy)):
                    task, tries = busy.pop(worker)
                    try:
                        take(worker.receive())
                        idle.append(worker)
                    except WorkerDied as death:
                        idle.append(self._replaced(worker, task, tries, death))
                        again.append((task, tries + 1))
        except KeyboardInterrupt:
            # What was handed out is finished, so that the cases compared are the first so many of the seed.
            for worker in list(busy):
                take(worker.receive())
            raise

    def _send(
        self,
        worker: Worker,
        entry: tuple[Task, int],
        busy: dict[Worker, tuple[Task, int]],
        idle: list[Worker],
        again: list[tuple[Task, int]],
    ) -> None:
        task, tries = entry
        try:
            worker.send(task)
        except WorkerDied as death:
            del busy[worker]
            idle.append(self._replaced(worker, task, tries, death))
            again.append((task, tries + 1))

    def _replaced(self, worker: Worker, task: Task, tries: int, death: WorkerDied) -> Worker:
        worker.close()
        if tries >= _TRIES:
            raise RuntimeError(f"{tries} workers ended with status {death} on {task!r}")
        fresh = Worker(self._plan)
        self._workers[self._workers.index(worker)] = fresh
        return fresh

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.close()


def _ready(workers: Sequence[Worker]) -> list[Worker]:
    """Return the workers that have an answer; waits for the first."""
    ready = set(wait([worker.fileno() for worker in workers]))
    return [worker for worker in workers if worker.fileno() in ready]
