"""The child's end of the two pipes to its parent.

A request is a length (four bytes, big-endian), then that many bytes. An answer is a number, a length, then that many
bytes. The parent chose the first number at random, and each answer has the next one. So the parent recognises
anything else that a tree writes into the pipe.
"""

from __future__ import annotations

import os
import struct
import traceback
from collections.abc import Callable

REQUEST_HEAD = struct.Struct(">I")
ANSWER_HEAD = struct.Struct(">II")
FAULT = b"!"
"""The first byte of a frame that reports an exception of the child's own code instead of an answer."""
# An outcome is a few hundred bytes. Answers are written when there are this many bytes, to make few system calls.
_FLUSH = 1 << 15


class Wire:
    """Reads requests, and collects answers until they are written; a write has only whole frames."""

    def __init__(self, request_fd: int, response_fd: int, number: int) -> None:
        self._in = os.fdopen(request_fd, "rb", buffering=1 << 16)
        self._out = response_fd
        self._number = number
        self._pending = bytearray()

    def receive(self) -> bytes | None:
        """Return the next request, None if the parent has closed its end."""
        head = self._in.read(REQUEST_HEAD.size)
        if len(head) < REQUEST_HEAD.size:
            return None
        (size,) = REQUEST_HEAD.unpack(head)
        body = self._in.read(size)
        return body if len(body) == size else None

    def send(self, payload: bytes) -> None:
        """Queue one frame; it is written when the queue is long enough or `flush` is called."""
        self._pending += ANSWER_HEAD.pack(self._number, len(payload))
        self._pending += payload
        self._number = (self._number + 1) & 0xFFFFFFFF
        if len(self._pending) >= _FLUSH:
            self.flush()

    def flush(self) -> None:
        """Write all queued frames."""
        view = memoryview(self._pending)
        while view:
            view = view[os.write(self._out, view) :]
        self._pending = bytearray()


def own_fault(error: BaseException) -> bytes:
    """Return the frame that reports an exception of the child's own code: `FAULT`, then the traceback."""
    return FAULT + "".join(traceback.format_exception(error)).encode(errors="backslashreplace")


def innermost_line(error: BaseException, counts: Callable[[str], bool]) -> str:
    """Return ``file:line`` of the innermost frame in a file for which ``counts`` is true; empty if there is none.

    For a SyntaxError in such a file it is the place of the error.
    """
    if isinstance(error, SyntaxError) and error.filename and error.filename[0] != "<" and counts(error.filename):
        return f"{error.filename}:{error.lineno}"
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if counts(file):
            found = f"{file}:{line}"
    return found
