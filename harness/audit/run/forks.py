"""Runs each mutant in a fork of a prepared process, so that a mutant costs only its own import and cases."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Final

import msgspec

from harness.audit.run import forkserver
from harness.audit.run.forkserver import DONE, LOADING, NOT_LOADED, PROGRESS, RAN, RECORD, End, Setup, Start
from harness.audit.run.hits import BlocksRan
from harness.audit.run.runner import NotLoaded, RunLimits
from harness.audit.run.trial import Trial, mask_bytes
from harness.common.defaults import IMPORT_FOLDER
from harness.subjects.wire import failure_frame
from harness.world.case import Failure, FailureKind

# While a fork says nothing, its progress is looked at this often, to find out whether it hangs.
_LOOK_SECONDS: Final = 0.2


class ForkRunner:
    """Runs a package with ``resolve(case)``, such as `legacy`, over the cases of a trial; a context manager.

    The package may be in any folder; what it imports from ``harness`` comes from this installation.
    """

    def __init__(self, package: str, trial: Trial, limits: RunLimits | None = None) -> None:
        self._limits = limits or RunLimits()
        self._bytes = mask_bytes(len(trial.cases))
        self._every = (1 << len(trial.cases)) - 1  # a bit for each case: all are to run
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            # -P keeps the user's working folder off the import path: it may hold a package with a name of ours.
            [sys.executable, "-P", "-s", "-m", forkserver.__name__, str(theirs.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            # With a fixed hash seed, every run goes through sets in the same order.
            env={"PATH": os.defpath, "PYTHONPATH": IMPORT_FOLDER, "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"},
        )
        theirs.close()
        setup = Setup(
            package=package,
            cases=list(trial.cases),
            expected=list(trial.expected),
            names=trial.names,
            messages=trial.messages,
            memory_mib=self._limits.memory_mib,
        )
        assert self._process.stdin is not None
        with self._process.stdin as stdin:
            stdin.write(msgspec.msgpack.encode(setup))

    def __enter__(self) -> ForkRunner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process, and with it all its forks."""
        # `shutdown` wakes a thread that waits for an answer on this socket; `close` alone would not.
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._control.close()

    def answers(self, folder: Path, cases: int | None = None) -> Generator[tuple[int, bytes], None, None]:
        """Yield the cases that disagree, as `harness.audit.run.runner.Runner` defines it. Raises NotLoaded."""
        yield from self._run(folder, self._every if cases is None else cases, blocks=False)

    def ran(self, folder: Path) -> BlocksRan | None:
        """Return which blocks ran, as `harness.audit.run.runner.Runner` defines it."""
        try:
            with contextlib.closing(self._run(folder, self._every, blocks=True)) as answers:
                number, body = next(answers, (DONE, b""))
        except NotLoaded:
            return None
        return msgspec.msgpack.decode(body, type=BlocksRan) if number == RAN else None

    def _run(self, folder: Path, cases: int, *, blocks: bool) -> Generator[tuple[int, bytes], None, None]:
        """Yield the answers of one fork and, if it dies or hangs, a failure of the case under way as the last."""
        with tempfile.TemporaryFile() as progress:
            progress.write(PROGRESS.pack(LOADING) + cases.to_bytes(self._bytes, "little"))
            progress.flush()
            reader, writer = os.pipe()
            try:
                try:
                    number = self._ask(
                        Start(folder=str(folder.resolve()), blocks=blocks),
                        [writer, progress.fileno()],
                    )
                finally:
                    # Only the fork holds the other end now, so that reading ends when the fork does.
                    os.close(writer)
                run = _ForkedRun(reader, progress, self._limits)
                ended = False
                try:
                    yield from run.answers()
                    if run.death is not None:
                        ended = True
                        yield run.failure(self._ask(End(number=number)))
                finally:
                    # The caller may stop early, and the fork must not run on.
                    if not ended:
                        self._ask(End(number=number))
            finally:
                os.close(reader)

    def _ask(self, request: Start | End, descriptors: list[int] | None = None) -> int:
        """Send a request to the process, with ``descriptors`` for the fork, and return the answer."""
        with self._lock:
            line = msgspec.json.encode(request) + b"\n"
            answer = b""
            try:
                socket.send_fds(self._control, [line], descriptors or [])
                while not answer.endswith(b"\n"):
                    part = self._control.recv(64)
                    if not part:
                        break
                    answer += part
            except OSError:
                answer = b""
            if not answer.endswith(b"\n"):
                raise RuntimeError("the process that runs mutants has ended")
            return msgspec.json.decode(answer, type=int)


class _ForkedRun:
    """Reads the answers of one fork, and notices when it dies or hangs."""

    def __init__(self, reader: int, progress: IO[bytes], limits: RunLimits) -> None:
        self._reader = reader
        self._progress = progress
        self._limits = limits
        self._buffer = bytearray()
        self.death: FailureKind | None = None
        """``killed`` or ``timeout`` if the fork died or hung before its DONE record, else None."""

    def answers(self) -> Iterator[tuple[int, bytes]]:
        """Yield the answers as they come; set `death` if the fork dies or hangs before the last. Raises NotLoaded."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._reader, selectors.EVENT_READ)
            at, since = LOADING, time.monotonic()
            while True:
                while (record := self._take()) is not None:
                    number, body = record
                    if number == NOT_LOADED:
                        raise NotLoaded(body.decode("utf-8", "replace"))
                    if number == DONE:
                        return
                    yield number, body
                if selector.select(_LOOK_SECONDS):
                    chunk = os.read(self._reader, 1 << 16)
                    if not chunk:
                        self.death = "killed"
                        return
                    self._buffer += chunk
                    continue
                now = self.at()
                if now != at:
                    at, since = now, time.monotonic()
                elif time.monotonic() - since > self._allowed(at):
                    self.death = "timeout"
                    return

    def failure(self, status: int) -> tuple[int, bytes]:
        """Return number and failure frame of the case in which the fork died or hung. Raises NotLoaded."""
        at = self.at()
        if self.death == "timeout":
            seconds = self._allowed(at)
            detail = f"it did not end within {seconds:g} seconds"
        else:
            detail = f"it exited with status {status}" if status >= 0 else f"it was ended by {_signal(-status)}"
        if at == LOADING:
            raise NotLoaded(detail)
        assert self.death is not None
        return at, failure_frame(Failure(self.death, detail))

    def at(self) -> int:
        """Return the number of the case that is running, LOADING during the import."""
        number: int = PROGRESS.unpack(os.pread(self._progress.fileno(), PROGRESS.size, 0))[0]
        return number

    def _allowed(self, at: int) -> float:
        return self._limits.load_seconds if at == LOADING else self._limits.case_seconds

    def _take(self) -> tuple[int, bytes] | None:
        """Take one answer from the buffer; None if the buffer has no complete one."""
        if len(self._buffer) < RECORD.size:
            return None
        number, length = RECORD.unpack_from(self._buffer)
        end = RECORD.size + length
        if len(self._buffer) < end:
            return None
        body = bytes(memoryview(self._buffer)[RECORD.size : end])
        del self._buffer[:end]
        return number, body


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
