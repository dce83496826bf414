"""A job in its own process. Tasks and answers go over one connection."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import sys
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Final

from harness.common.defaults import IMPORT_FOLDER
from harness.common.errors import UsageError
from harness.engine.search.job import Job
from harness.engine.search.pair import Pair
from harness.engine.search.plan import Answer, Begin, Failed, MakePlan, Message, Plan, Request, decode, encode
from harness.engine.search.planning import make_plan
from harness.subjects.cores import keep_to
from harness.world.profiles import use_profiles

FEW_COLLECTIONS: Final = (50_000, 20, 50)
"""Thresholds of the garbage collector: a job makes mostly plain data without cycles, which needs no collector."""


class WorkerDied(Exception):
    """A worker ended without an answer."""


class Worker:
    """The parent's end of one worker process, which keeps to ``core`` where one is given."""

    def __init__(self, request: Request, core: int | None = None) -> None:
        self.core = core
        self._ours, theirs = Pipe(duplex=True)
        # -P keeps the current folder off the import path: it may hold a package with the name of ours.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, str(theirs.fileno()), *([] if core is None else [str(core)])],
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, (IMPORT_FOLDER, os.environ.get("PYTHONPATH")))),
            },
        )
        theirs.close()
        self._ours.send_bytes(encode(request))

    def fileno(self) -> int:
        """Return the descriptor to wait for with ``multiprocessing.connection.wait``."""
        return self._ours.fileno()

    def send(self, message: Message) -> None:
        """Send a message; wait for the answer to a task before sending the next one. Raises WorkerDied."""
        try:
            self._ours.send_bytes(encode(message))
        except OSError:
            raise WorkerDied(self._process.wait()) from None

    def receive(self) -> Answer:
        """Return the answer to the last task; raises WorkerDied, or UsageError when a subject cannot be opened."""
        try:
            answer: Answer = decode(self._ours.recv_bytes(), Answer)
        except (EOFError, OSError):
            raise WorkerDied(self._process.wait()) from None
        if isinstance(answer, Failed):
            raise UsageError(answer.message, answer.example)
        return answer

    def close(self) -> None:
        """End the worker and its subjects' processes; kill it if it does not end within half a second."""
        self._ours.close()
        try:
            self._process.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def main() -> None:
    """Serve tasks until the parent closes its end."""
    # The terminal sends a Ctrl-C to the whole process group, and the parent alone decides when to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(*FEW_COLLECTIONS)
    connection = Connection(int(sys.argv[1]))
    for core in sys.argv[2:]:
        keep_to(int(core))
    with contextlib.suppress(EOFError, OSError):
        request: Request = decode(connection.recv_bytes(), Request)
        use_profiles(request.profiles)
        with Pair(request.first, request.second) as pair:
            _serve(connection, request, pair)
    # Skip the interpreter's shutdown: freeing all the data of a campaign takes time and achieves nothing.
    os._exit(0)


def _serve(connection: Connection, request: Request, pair: Pair) -> None:
    with contextlib.suppress(UsageError):
        # Load before the first message arrives, to save time. The first task raises the same error and reports it.
        pair.load()
    plan: Plan | None = None
    job: Job | None = None
    while True:
        message: Message = decode(connection.recv_bytes(), Message)
        answer: Answer
        try:
            if isinstance(message, MakePlan):
                answer = make_plan(request, pair)
            elif isinstance(message, Begin):
                plan = message.plan
                continue
            else:
                assert plan is not None
                job = job or Job(plan, pair)
                answer = job.run(message)
        except UsageError as error:
            answer = Failed(str(error), error.example)
        connection.send_bytes(encode(answer))


if __name__ == "__main__":
    main()
