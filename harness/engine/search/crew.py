"""The workers that run the tasks of a campaign: one job in this process, or several in processes of their own."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import wait
from typing import Protocol

from harness.engine.search.interrupts import let_through
from harness.engine.search.job import Job
from harness.engine.search.pair import Pair
from harness.engine.search.plan import Answer, Begin, MakePlan, Plan, Planned, Request, Task
from harness.engine.search.planning import make_plan
from harness.engine.search.worker import FEW_COLLECTIONS, Worker, WorkerDied
from harness.subjects.cores import one_each
from harness.world.case import Case

# A worker process that ends without an answer is replaced, since the system may have killed it for a passing lack of
# memory. A task that ends this many workers in a row is itself the reason, and the campaign fails.
_TRIES = 3


class Workers(Protocol):
    """Something that runs tasks: `Inline` or `Crew`."""

    def work(self, tasks: Iterator[Task | None], take: Callable[[Answer], None]) -> None:
        """Run the tasks and hand each answer to ``take``; raises KeyboardInterrupt, and can be used again then."""
        ...


class _End:
    """The end of the tasks; None means "wait for an answer", so that it cannot mean this."""


_END = _End()


class Inline:
    """One job in this process. Use it as a context manager.

    The job makes its cases, unless they are ``given``.
    """

    def __init__(self, request: Request, given: Sequence[Case] | None = None) -> None:
        self._request = request
        self._given = given
        self._pair = Pair(request.first, request.second)
        self._job: Job | None = None

    def __enter__(self) -> Inline:
        self._threshold = gc.get_threshold()
        gc.set_threshold(*FEW_COLLECTIONS)
        return self

    def __exit__(self, *exception: object) -> None:
        gc.set_threshold(*self._threshold)
        self._pair.close()

    def plan(self) -> Planned:
        """Load the subjects and make the plan. Call this before `work`. Raises UsageError."""
        made = make_plan(self._request, self._pair)
        self._job = Job(made.plan, self._pair, self._given)
        return made

    def work(self, tasks: Iterator[Task | None], take: Callable[[Answer], None]) -> None:
        """Run the tasks one after the other. No task has to wait, since each earlier one is answered already."""
        assert self._job is not None
        try:
            for task in tasks:
                assert task is not None
                with let_through():
                    answer = self._job.run(task)
                take(answer)
        except KeyboardInterrupt:
            # A subject's process may still be working on cases, and would answer the next task with their outcomes.
            # So both end here, and the next task starts fresh ones.
            self._pair.close()
            raise


class Crew:
    """Several jobs, each in a process of its own. Use it as a context manager.

    All workers load their subjects at the same time. The first one also makes the plan.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._plan: Plan | None = None
        self._workers = [Worker(request, core) for core in one_each(request.jobs)]

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *exception: object) -> None:
        for worker in self._workers:
            worker.close()

    def plan(self) -> Planned:
        """Load the subjects and make the plan. Call this before `work`. Raises UsageError."""
        first = self._workers[0]
        first.send(MakePlan())
        made = first.receive()
        assert isinstance(made, Planned)
        self._plan = made.plan
        for worker in self._workers:
            with contextlib.suppress(WorkerDied):
                # Nothing is lost yet: the worker is replaced when it gets its first task.
                worker.send(Begin(made.plan))
        return made

    def work(self, tasks: Iterator[Task | None], take: Callable[[Answer], None]) -> None:
        """Hand out the tasks in order, each to the next free worker; return when all are answered.

        ``tasks`` yields None when its next task depends on an answer that is still missing. It is asked again after
        the next answer.
        """
        idle, busy = list(self._workers), dict[Worker, tuple[Task, int]]()
        more = True
        try:
            while True:
                while idle and more:
                    task = next(tasks, _END)
                    if task is None:
                        break
                    if isinstance(task, _End):
                        more = False
                    else:
                        self._hand(idle.pop(), task, 1, busy)
                if not busy:
                    assert not more, "a task waits for an answer and none is due"
                    return
                with let_through():
                    ready = _ready(list(busy))
                for worker in ready:
                    given, tries = busy.pop(worker)
                    try:
                        answer = worker.receive()
                    except WorkerDied as death:
                        self._hand(self._replaced(worker, given, tries, death), given, tries + 1, busy)
                    else:
                        idle.append(worker)
                        take(answer)
        except KeyboardInterrupt:
            # The workers still run tasks whose answers nobody will read, and would be mistaken for answers to later
            # tasks. Fresh workers take those.
            for number, worker in enumerate(self._workers):
                worker.close()
                self._workers[number] = self._fresh(worker.core)
            raise

    def _hand(self, worker: Worker, task: Task, tries: int, busy: dict[Worker, tuple[Task, int]]) -> None:
        """Hand the task to the worker, or to a fresh one if this worker has ended.

        Another running worker would be simpler and wrong. A worker reports only what it has not reported before, and
        another one may have compared later chunks already: it would leave out of this chunk what it reported with
        those, and the result would depend on which worker died. A fresh worker has reported nothing.
        """
        while True:
            try:
                worker.send(task)
            except WorkerDied as death:
                worker = self._replaced(worker, task, tries, death)
                tries += 1
            else:
                busy[worker] = task, tries
                return

    def _fresh(self, core: int | None) -> Worker:
        """Return a new worker that knows the plan."""
        assert self._plan is not None
        worker = Worker(self._request, core)
        with contextlib.suppress(WorkerDied):
            worker.send(Begin(self._plan))
        return worker

    def _replaced(self, worker: Worker, task: Task, tries: int, death: WorkerDied) -> Worker:
        """Return a fresh worker in the place of one that ended; raises RuntimeError after too many tries."""
        worker.close()
        if tries >= _TRIES:
            raise RuntimeError(f"{tries} workers ended with status {death} on {task!r}")
        fresh = self._fresh(worker.core)
        self._workers[self._workers.index(worker)] = fresh
        return fresh


def _ready(workers: Sequence[Worker]) -> list[Worker]:
    """Wait until a worker has an answer or has ended; return all workers that have."""
    ready = set(wait([worker.fileno() for worker in workers]))
    return [worker for worker in workers if worker.fileno() in ready]
