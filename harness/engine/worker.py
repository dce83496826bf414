"""A job in a process of its own: tasks come in over one connection, answers go out over it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from harness.engine.job import Job
from harness.engine.plan import Answer, Failed, Plan, Task, decode, encode
from harness.errors import UsageError


class WorkerDied(Exception):
    """A worker ended without an answer."""


class Worker:
    """The parent's end of one worker process."""

    def __init__(self, plan: Plan) -> None:
        self._ours, theirs = Pipe(duplex=True)
        package_root = str(Path(__file__).parents[2])
        # -P keeps the folder the user stands in off the path: it may hold a package called like ours.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, (package_root, os.environ.get("PYTHONPATH")))),
            },
        )
        theirs.close()
        self._ours.send_bytes(encode(plan))

    def fileno(self) -> int:
        """Return what ``multiprocessing.connection.wait`` waits on: ready when an answer is there."""
        return self._ours.fileno()

    def send(self, task: Task) -> None:
        """Hand over a task; the worker takes one at a time. Raises WorkerDied."""
        try:
            self._ours.send_bytes(encode(task))
        except OSError:
            raise WorkerDied(self._process.wait()) from None

    def receive(self) -> Answer:
        """Return the answer to the task; raises UsageError for a subject that is no more, WorkerDied."""
        try:
            answer: Answer = decode(self._ours.recv_bytes(), Answer)
        except (EOFError, OSError):
            raise WorkerDied(self._process.wait()) from None
        if isinstance(answer, Failed):
            raise UsageError(answer.message, answer.example)
        return answer

    def close(self) -> None:
        """End the worker and with it its children."""
        self._ours.close()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def main() -> None:
    """Serve tasks until the parent closes its end."""
    # The parent decides what a Ctrl-C means; the terminal sends it to the whole group.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = Connection(int(sys.argv[1]))
    with contextlib.suppress(EOFError, OSError):
        plan: Plan = decode(connection.recv_bytes(), Plan)
        _serve(connection, plan)


def _serve(connection: Connection, plan: Plan) -> None:
    job: Job | None = None
    try:
        while True:
            task: Task = decode(connection.recv_bytes(), Task)
            answer: Answer
            try:
                if job is None:
                    job = Job(plan)
                answer = job.run(task)
            except UsageError as error:
                answer = Failed(str(error), error.example)
            connection.send_bytes(encode(answer))
    finally:
        if job is not None:
            job.close()


if __name__ == "__main__":
    main()
