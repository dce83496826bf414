"""Who does a campaign's tasks: one job in this process, or several in processes of their own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import wait

from harness.engine.events import Started
from harness.engine.job import Job
from harness.engine.pair import Pair
from harness.engine.plan import Answer, Begin, MakePlan, Plan, Planned, Request, Task
from harness.engine.planning import make_plan
from harness.engine.worker import Worker, WorkerDied

# A worker that ends without a word is replaced; one task that ends this many is given up on.
_TRIES = 3


class Inline:
    """One job, in this process. Use it as a context manager."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._pair = Pair(request.first, request.second)
        self._job: Job | None = None

    def __enter__(self) -> Inline:
        return self

    def __exit__(self, *exception: object) -> None:
        self._pair.close()

    def plan(self) -> Started:
        """Make the plan; must come first. Raises UsageError."""
        made = make_plan(self._request, self._pair)
        self._job = Job(made.plan, self._pair)
        return made.started

    def work(self, tasks: Iterator[Task], take: Callable[[Answer], None]) -> None:
        """Run the tasks one after the other."""
        assert self._job is not None
        try:
            for task in tasks:
                take(self._job.run(task))
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
        self._workers = [Worker(request) for _ in range(request.jobs)]

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *exception: object) -> None:
        for worker in self._workers:
            worker.close()

    def plan(self) -> Started:
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
        return made.started

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
            # Nobody waits for what is under way: fresh workers take what comes next.
            for number, worker in enumerate(self._workers):
                worker.close()
                self._workers[number] = self._fresh()
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

    def _fresh(self) -> Worker:
        assert self._plan is not None
        worker = Worker(self._request)
        with contextlib.suppress(WorkerDied):
            worker.send(Begin(self._plan))
        return worker

    def _replaced(self, worker: Worker, task: Task, tries: int, death: WorkerDied) -> Worker:
        worker.close()
        if tries >= _TRIES:
            raise RuntimeError(f"{tries} workers ended with status {death} on {task!r}")
        fresh = self._fresh()
        self._workers[self._workers.index(worker)] = fresh
        return fresh


def _ready(workers: Sequence[Worker]) -> list[Worker]:
    """Return the workers that have an answer; waits for the first."""
    ready = set(wait([worker.fileno() for worker in workers]))
    return [worker for worker in workers if worker.fileno() in ready]
