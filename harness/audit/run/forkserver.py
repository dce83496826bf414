"""The process behind `ForkRunner`: it has imported harness and read the cases, and forks once for each mutant.

So a mutant costs only its own import and cases; a process of `harness.subjects` would import harness and read all
cases again for each mutant. The setup comes over standard input. Requests (`Start`, `End`) come as JSON lines over a
socket, since a pipe cannot carry descriptors.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import mmap
import os
import pkgutil
import resource
import signal
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NoReturn

import msgspec

import harness.world
from harness.audit.run.hits import BlockRecord, watched
from harness.audit.run.plain import ExpectedOutcome
from harness.audit.run.trial import frame_of, mask_bytes, numbers_in
from harness.subjects.child.world import sandbox
from harness.subjects.wire import failure_frame
from harness.world.case import Case, Failure

_allowed_bytes: Callable[[int], int] = sandbox.allowed_bytes

RECORD: Final = struct.Struct(">iI")
"""The head of an answer: a case's number (or one of the three below) and the length of the rest."""
DONE: Final = -1
"""The number of the last answer, which has no rest."""
NOT_LOADED: Final = -2
"""The number of an answer that says why the package could not be imported."""
RAN: Final = -3
"""The number of an answer that says which blocks ran: a `harness.audit.run.hits.BlocksRan` in MessagePack."""

PROGRESS: Final = struct.Struct("=q")
"""The head of the progress file: the number of the case under way. After it come the cases to run, a bit each."""
LOADING: Final = -1
"""The number in the progress file while the package is being imported."""


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """The data that all forks share."""

    package: str
    cases: list[Case]
    expected: list[bytes]
    names: tuple[str, ...]
    messages: bool
    memory_mib: int


class Start(msgspec.Struct, frozen=True, tag="start"):
    """Fork, and run the package in ``folder``; the answer is the fork's process id.

    Two descriptors come with it: one to write the answers to, and the progress file (see `PROGRESS`). With ``blocks``
    the package's blocks report that they run (`harness.audit.run.hits`), and the fork sends what they reported.
    """

    folder: str
    blocks: bool


class End(msgspec.Struct, frozen=True, tag="end"):
    """End the fork with the process id ``number``; the answer is its exit status, negative for a signal."""

    number: int


_REQUESTS: Final = msgspec.json.Decoder(Start | End)


def main() -> None:
    """Serve until the other end closes."""
    # The terminal sends Ctrl-C to all processes of the group, but only the parent is to react: it ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=int(sys.argv[1]))
    setup = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Setup)
    # What is imported here, no fork has to import.
    for module in pkgutil.walk_packages(harness.world.__path__, prefix="harness.world."):
        importlib.import_module(module.name)
    expected = [ExpectedOutcome(frame, setup.names, setup.messages) for frame in setup.expected]
    sys.dont_write_bytecode = True
    # The collector leaves frozen objects alone. It would write to others, and each fork would need its own copy.
    gc.collect()
    gc.freeze()
    running: set[int] = set()
    try:
        while (received := _receive(control)) is not None:
            request, descriptors = received
            if isinstance(request, Start):
                answer = _start(setup, expected, control, request, descriptors)
                running.add(answer)
            else:
                answer = _end(request.number)
                running.discard(request.number)
            control.sendall(b"%d\n" % answer)
    finally:
        for number in running:
            _end(number)


def _receive(control: socket.socket) -> tuple[Start | End, list[int]] | None:
    """Return the next request and its descriptors, None if the other end has closed."""
    data, descriptors = b"", list[int]()
    while not data.endswith(b"\n"):
        part, some, _, _ = socket.recv_fds(control, 1 << 16, 2)
        if not part:
            return None
        data += part
        descriptors += some
    return _REQUESTS.decode(data), descriptors


def _start(
    setup: Setup, expected: list[ExpectedOutcome], control: socket.socket, request: Start, descriptors: list[int]
) -> int:
    """Fork, and run the package in the fork. Return the fork's process id."""
    number = os.fork()
    if number:
        for descriptor in descriptors:
            os.close(descriptor)
        # The fork makes itself a group, too. Whichever comes first, the group exists before `_end` has to kill it.
        with contextlib.suppress(OSError):
            os.setpgid(number, number)
        return number
    status = 1
    try:
        os.setpgid(0, 0)
        control.close()
        _Fork(setup, expected, Path(request.folder), *descriptors).run(blocks=request.blocks)
        status = 0
    finally:
        os._exit(status)


def _end(number: int) -> int:
    """End a fork and every process that it started. Return its exit status, negative for a signal."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.waitid(os.P_PID, number, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            os.killpg(number, signal.SIGKILL)
    _, status = os.waitpid(number, 0)
    # Processes that the fork started may still run.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(number, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status)


class _Fork:
    """One run of one package."""

    def __init__(
        self, setup: Setup, expected: list[ExpectedOutcome], folder: Path, answers: int, progress: int
    ) -> None:
        self._setup = setup
        self._expected = expected
        self._folder = folder
        self._answers = answers
        self._progress = mmap.mmap(progress, PROGRESS.size + mask_bytes(len(setup.cases)))
        self._numbers = numbers_in(int.from_bytes(self._progress[PROGRESS.size :], "little"))

    def run(self, *, blocks: bool) -> None:
        """Import the package, resolve the cases to run, and send the outcomes that may not agree.

        With ``blocks``, the cases run twice (see `BlockRecord`), and which blocks ran is sent as well.
        """
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        allowed = _allowed_bytes(self._setup.memory_mib << 20)
        resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))
        try:
            resolve = self._load()
        except BaseException as error:
            self._say(NOT_LOADED, f"{type(error).__name__}: {error}".encode("utf-8", "replace")[:1000])
            return
        if blocks:
            record = BlockRecord()
            self._cases(watched(resolve, record.first))
            self._cases(watched(resolve, record.again))
            self._say(RAN, msgspec.msgpack.encode(record.ran()))
        else:
            self._cases(resolve)
        self._say(DONE, b"")

    def _load(self) -> Any:
        sys.path.insert(0, str(self._folder))
        importlib.invalidate_caches()
        module = importlib.import_module(self._setup.package)
        # Otherwise an installed package of that name could be judged in place of the mutant.
        if not str(module.__file__).startswith(f"{self._folder}/"):
            raise ImportError(f"{self._setup.package} was found elsewhere than in its folder")
        return module.resolve

    def _cases(self, resolve: Any) -> None:
        """Resolve the cases to run, and send each outcome that may not agree."""
        setup = self._setup
        for number in self._numbers:
            case, expected = setup.cases[number], self._expected[number]
            PROGRESS.pack_into(self._progress, 0, number)
            try:
                outcome = resolve(case)
                if not expected.is_plainly(outcome):
                    self._say(number, frame_of(outcome, setup.names))
            except MemoryError:
                self._fail(number, "memory", "it needed more memory than it may have")
            except BaseException as error:
                self._fail(number, "broken", f"{type(error).__name__}: {error}")

    def _fail(self, number: int, kind: Any, detail: str) -> NoReturn:
        """Send a failure as the last answer, and end the fork."""
        self._say(number, failure_frame(Failure(kind, detail.encode("utf-8", "replace").decode()[:500])))
        self._say(DONE, b"")
        os._exit(0)

    def _say(self, number: int, body: bytes) -> None:
        # Not buffered: the next case may end the process, and the rest of a buffer would be lost.
        data = memoryview(RECORD.pack(number, len(body)) + body)
        while data:
            data = data[os.write(self._answers, data) :]


if __name__ == "__main__":
    main()
