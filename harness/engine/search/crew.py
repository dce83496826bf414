"""Who does a campaign's tasks: one job in this process, or several in processes of their own."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import wait

from harness.engine.search.interrupts import let_through
from harness.engine.search.job import Job
from harness.engine.search.pair import Pair
from harness.engine.search.plan import Answer, Begin, MakePlan, Plan, Planned, Request, Task
from harness.engine.search.planning import make_plan
from harness.engine.search.worker import FEW_COLLECTIONS, Worker, WorkerDied
from harness.subjects.cores import one_each
from harness.world.case import Case

# A worker that ends without a word is replaced; one task that ends this many is given up on.
_TRIES = 3


class _End:
    """Stands for the end of the tasks."""


_END = _End()


class Inline:
    """One job, in this process, which makes the cases or has them ``given``. Use it as a context manager."""

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
        """Make the plan; must come first. Raises UsageError."""
        made = make_plan(self._request, self._pair)
        self._job = Job(made.plan, self._pair, self._given)
        return made

    def work(self, tasks: Iterator[Task | None], take: Callable[[Answer], None]) -> None:
        """Run the tasks one after the other; none of them waits for an answer, since all before are answered."""
        assert self._job is not None
        try:
            for task in tasks:
                assert task is not None
                with let_through():
                    answer = self._job.run(task)
                take(answer)
        except KeyboardInterrupt:
            # The subjects may owe answers that nobody waits for any more: the next task starts fresh ones.
            self._pair.close()
            raise


class Crew:
    """Several jobs, each in a process of its own. Use it as a context manager.

    All load their subjects at once; the first also makes the plan, for which it needs no others.
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
        """Make the plan; must come first. Raises UsageError."""
        first = self._workers[0]
        first.send(MakePlan())
        made = first.receive()
        assert isinstance(made, Planned)
        self._plan = made.plan
        for worker in self._workers:
            with contextlib.suppress(WorkerDied):
                # It is replaced at its first task.
                worker.send(Begin(made.plan))
        return made

    def work(self, tasks: Iterator[Task | None], take: Callable[[Answer], None]) -> None:
        """Hand the tasks out in order, each to the next free worker; returns when all are answered.

        ``tasks`` yields None when the next task has to wait for an answer, and is asked again after it.
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
            # Nobody waits for what is under way: fresh workers take what comes next.
            for number, worker in enumerate(self._workers):
                worker.close()
                self._workers[number] = self._fresh(worker.core)
            raise

    def _hand(self, worker: Worker, task: Task, tries: int, busy: dict[Worker, tuple[Task, int]]) -> None:
        """Hand a task over; when the worker turns out to have ended, to a fresh one.

        And to no other: what a worker tells leaves out what it told before, and one that goes on may have done later
        chunks already.
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
        assert self._plan is not None
        worker = Worker(self._request, core)
        with contextlib.suppress(WorkerDied):
            worker.send(Begin(self._plan))
        return worker

    def _replaced(self, worker: Worker, task: Task, tries: int, death: WorkerDied) -> Worker:
        worker.close()
        if tries >= _TRIES:
            raise RuntimeError(f"{tries} workers ended with status {death} on {task!r}")
        fresh = self._fresh(worker.core)
        self._workers[self._workers.index(worker)] = fresh
        return fresh


def _ready(workers: Sequence[Worker]) -> list[Worker]:
    """Return the workers that have an answer; waits for the first."""
    ready = set(wait([worker.fileno() for worker in workers]))
    return [worker for worker in workers if worker.fileno() in ready]
