"""One child process: starts it, sends it requests, reads its answers, ends it. This module knows nothing of cases."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Any, TypeVar

import msgspec

from harness.common.defaults import IMPORT_FOLDER
from harness.common.errors import UsageError
from harness.subjects import cores
from harness.subjects.child.serve.operations import Operation, body_of
from harness.subjects.child.serve.wire import ANSWER_HEAD, FAULT, REQUEST_HEAD

A = TypeVar("A")

# Bytes that are read at once.
_CHUNK = 1 << 16
# Bytes of its output that are kept, for the report of its death.
_TAIL = 4096
# A frame that claims to be longer than this is not one of ours.
_MAX_FRAME = 1 << 28
_NOT_AN_ANSWER = "it wrote something else than answers into the answer pipe"


class ChildDied(Exception):
    """The child ended, was late or wrote nonsense; ``kind`` is ``killed``, ``timeout``, ``memory`` or ``broken``.

    ``detail`` says in words what happened. The child is ended.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class ChildFault(ChildDied):
    """Our own code in the child raised, not the subject's: a bug of ours. A note has the traceback."""

    def __init__(self, trace: str) -> None:
        super().__init__("killed", f"its own code failed ({trace.rstrip().rpartition(chr(10))[2]})")
        self.add_note(trace)


def command(python: str, *, site_packages: bool) -> list[str]:
    """Return the command of a child for a tree or a callable; no folder of ours is on its module path.

    With ``site_packages`` it can import the packages that are installed for the interpreter ``python``. A callable
    may need them; a tree must not see them.
    """
    boot = resources.files("harness.subjects").joinpath("child", "boot.py")
    return [python, "-s", *(() if site_packages else ("-S",)), "-B", str(boot)]


def package_command() -> list[str]:
    """Return the command of a child for one of our own packages: with this interpreter, its packages and our core."""
    boot = resources.files("harness.subjects").joinpath("packaged", "boot.py")
    return [sys.executable, "-s", "-P", "-B", str(boot), IMPORT_FOLDER]


class Process:
    """A running child and the two pipes to it.

    ``command`` starts it; the file descriptors of the two pipes and the number of the first answer are added as
    arguments. The child gets a new environment, an empty working folder and no standard input. What it prints is read
    and dropped, except for the last few kilobytes: the report of a death quotes the last line.
    """

    def __init__(self, command: Sequence[str]) -> None:
        request_read, request_write = os.pipe()
        response_read, response_write = os.pipe()
        self._number = int.from_bytes(os.urandom(4), "big")
        self._home = tempfile.TemporaryDirectory(prefix="stackproof-")
        try:
            self._process = subprocess.Popen(
                [*command, *map(str, (request_read, response_write, self._number))],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(request_read, response_write),
                cwd=self._home.name,
                env=_environment(),
                start_new_session=True,
            )
        except OSError as error:
            for fd in (request_write, response_read):
                os.close(fd)
            self._home.cleanup()
            raise UsageError(f"the interpreter {command[0]!r} cannot be started: {error.strerror or error}") from None
        finally:
            os.close(request_read)
            os.close(response_write)
        cores.release(self._process.pid)
        self._requests = request_write
        self._responses = response_read
        self._buffer = bytearray()
        self._tail = bytearray()
        assert self._process.stdout is not None
        self._noise = self._process.stdout.fileno()
        for fd in (self._requests, self._responses, self._noise):
            os.set_blocking(fd, False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._responses, selectors.EVENT_READ)
        self._selector.register(self._noise, selectors.EVENT_READ)

    def ask(self, request: Operation[A], seconds: float) -> A:
        """Send one request and return its answer, which must come within ``seconds``; raises ChildDied."""
        (answer,) = self.frames(encoded(request), 1, seconds, b"{")
        try:
            return msgspec.json.decode(answer, type=request.answer_type())
        except msgspec.ValidationError:
            # Everything that is imported in the process can write to its pipes, too.
            raise self._died("broken", "something else than its process answered: mend what it imports") from None
        except msgspec.DecodeError as error:
            raise self._died("broken", f"its answer is not JSON ({error})") from None

    def frames(self, request: bytes, count: int, seconds: float, kinds: bytes) -> Iterator[bytes]:
        """Send one request and yield ``count`` answer frames as they come.

        ``seconds`` bounds the wait for the next frame. ``kinds`` are the bytes that a frame may start with. Raises
        ChildDied, but only after it has yielded all frames that came before.
        """
        if self._buffer:
            raise self._died("broken", _NOT_AN_ANSWER)
        outgoing = memoryview(REQUEST_HEAD.pack(len(request)) + request)
        deadline = time.monotonic() + seconds
        kinds += FAULT
        while count:
            taken, fault = self._take_frames(kinds, count)
            yield from taken
            if fault is not None:
                raise fault
            if taken:
                count -= len(taken)
                deadline = time.monotonic() + seconds
            else:
                outgoing = self._pump(outgoing, deadline)

    def _take_frames(self, kinds: bytes, most: int) -> tuple[list[bytes], ChildDied | None]:
        """Return the complete frames in the buffer, ``most`` at most, and the fault after them if there is one.

        After a fault nothing more can be read, and the child is ended.
        """
        frames: list[bytes] = []
        start, size, number = 0, len(self._buffer), self._number
        fault: ChildDied | None = None
        with memoryview(self._buffer) as buffer:
            while len(frames) < most and size - start > ANSWER_HEAD.size:
                found, length = ANSWER_HEAD.unpack_from(buffer, start)
                body = start + ANSWER_HEAD.size
                # Checked before the whole frame is there. If this is no frame, waiting for the rest would end as a
                # timeout, which is the wrong reason.
                if found != number or not 0 < length <= _MAX_FRAME or buffer[body] not in kinds:
                    fault = self._died("broken", _NOT_AN_ANSWER)
                    break
                if body + length > size:
                    break
                start = body + length
                number = (number + 1) & 0xFFFFFFFF
                frame = bytes(buffer[body:start])
                if frame[:1] == FAULT:
                    fault = ChildFault(frame[1:].decode(errors="replace"))
                    break
                frames.append(frame)
        self._number = number
        if fault is not None:
            self.close()
        else:
            del self._buffer[:start]
        return frames, fault

    def _pump(self, outgoing: memoryview, deadline: float) -> memoryview:
        """Write a part of ``outgoing`` if that is possible at once, otherwise wait and read what comes.

        Return what is still to be written. Raises ChildDied.
        """
        if outgoing:
            with contextlib.suppress(BlockingIOError):
                try:
                    return outgoing[os.write(self._requests, outgoing) :]
                except BrokenPipeError:
                    raise self._died("killed", self._ending()) from None
            self._selector.register(self._requests, selectors.EVENT_WRITE)
        try:
            ready = self._selector.select(max(0.0, deadline - time.monotonic()))
        finally:
            if outgoing:
                self._selector.unregister(self._requests)
        # A child that prints without end always has something to read, so the clock is checked as well.
        if not ready or time.monotonic() > deadline:
            raise self._died("timeout", "it did not answer in time")
        for key, _ in ready:
            if key.fd == self._noise:
                self._drain_noise()
            elif key.fd == self._responses:
                chunk = os.read(self._responses, _CHUNK)
                if not chunk:
                    raise self._died("killed", self._ending())
                self._buffer += chunk
        return outgoing

    def _drain_noise(self) -> None:
        try:
            chunk = os.read(self._noise, _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self._selector.unregister(self._noise)
        self._tail = (self._tail + chunk)[-_TAIL:]

    def _ending(self) -> str:
        """Return in words how the process ended, with its last line of output if it failed by itself."""
        try:
            status = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "it closed its pipe without ending"
        if status == -signal.SIGALRM:
            return "it did not end the case in time"
        if status < 0:
            try:
                words = f"it was ended by {signal.Signals(-status).name}"
            except ValueError:
                words = f"it was ended by signal {-status}"
        else:
            words = f"it exited with status {status}"
        with contextlib.suppress(OSError):
            self._tail = (self._tail + os.read(self._noise, _CHUNK))[-_TAIL:]
        lines = [line.strip() for line in self._tail.decode(errors="replace").splitlines() if line.strip()]
        return f"{words} ({lines[-1][:200]})" if lines and status > 0 else words

    def _died(self, kind: str, detail: str) -> ChildDied:
        status = self._process.poll()
        if status == -signal.SIGALRM:
            kind = "timeout"
        elif kind == "killed" and b"\nMemoryError" in self._tail[-200:]:
            kind = "memory"
        self.close()
        return ChildDied(kind, detail)

    def share_core(self) -> None:
        """Keep the child to the core of this process, if that keeps to one: they work in turns. See `cores`."""
        cores.join(self._process.pid)

    def kill(self) -> None:
        """End the child, but leave its pipes open, since another thread may be reading from them."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the child and everything that it may have started. It may be called again."""
        self.kill()
        self._process.wait()
        self._selector.close()
        for fd in (self._requests, self._responses):
            with contextlib.suppress(OSError):
                os.close(fd)
        self._requests = self._responses = -1
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._home.cleanup()


def encoded(request: Operation[Any]) -> bytes:
    """Return a request as JSON."""
    return msgspec.json.encode(body_of(request))


def _environment() -> dict[str, str]:
    """Return the child's environment. No variable of the user's shell is in it, so that none changes a resolution."""
    return {
        # Some of a tree's defaults, such as a folder for caches, start with this folder.
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PATH": os.defpath,
        "PYTHONHASHSEED": "0",
        "TMPDIR": "/nonexistent",
        "TZ": "UTC",
    }
