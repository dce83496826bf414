"""Frames over two pipes.

A request is a length (four bytes, big-endian), then that many bytes. An answer begins with its number, counted from
a random one that the parent chose, so that whatever else is written into the pipe is no answer.
"""

import json
import math
import os
import re
import struct
import traceback

from ..world.standins import now

_LENGTH = struct.Struct(">I")
_ANSWER = struct.Struct(">II")
# An outcome is a few hundred bytes: one write per batch of this many bytes keeps system calls rare.
_FLUSH = 1 << 15


def encode(value):
    """Return ``value`` as compact JSON bytes, the same bytes for equal values of equal types.

    Half a surrogate pair, which UTF-8 cannot carry, is written as an escape's text. Raises ValueError, TypeError or
    RecursionError for what JSON cannot hold.
    """
    text = _ENCODER.encode(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda half: f"\\\\u{ord(half[0]):04x}", text).encode()


def own_fault(error):
    """Return the frame that tells of an exception of the child's own code: a mark, then the traceback."""
    return b"!" + "".join(traceback.format_exception(error)).encode(errors="backslashreplace")


def frame_of(error, counts):
    """Return ``file:line`` of the innermost frame in a file that ``counts``, the empty string where there is none.

    Of what Python cannot read there it is the place that it stumbled over.
    """
    unread = (error.filename or "<") if isinstance(error, SyntaxError) else "<"
    if not unread.startswith("<") and counts(unread):
        return f"{unread}:{error.lineno}"
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if counts(file):
            found = f"{file}:{line}"
    return found


_SURROGATE = re.compile("[\ud800-\udfff]")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")


def without_addresses(text):
    """Return ``text`` without addresses in memory, which differ from one process to the next."""
    return _ADDRESS.sub("0x...", text) if "0x" in text else text


def marked(value):
    """Return ``value`` as what JSON tells apart: a key marked with ``$`` names the type that JSON does not have."""
    value = now(value)
    if isinstance(value, dict):
        if all(type(key) is str and not key.startswith("$") for key in value):
            return {key: marked(item) for key, item in value.items()}
        return {"$dict": [[marked(key), marked(item)] for key, item in value.items()]}
    if type(value) is list:
        return [marked(item) for item in value]
    if isinstance(value, (list, tuple)):
        return {f"${type(value).__name__}": [marked(item) for item in value]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": repr(float(value))}
    if value is None or type(value) in (bool, str, int, float):
        return value
    if isinstance(value, (str, int, float)):
        plain = next(kind for kind in (str, int, float) if isinstance(value, kind))
        return {f"${type(value).__name__}": plain.__str__(value) if plain is str else plain(value)}
    if isinstance(value, (set, frozenset)):
        return {"$set": sorted((marked(item) for item in value), key=repr)}
    return {f"${type(value).__name__}": without_addresses(repr(value))}


_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)


class Wire:
    """The child's end: reads requests, buffers answers, flushes them in whole frames."""

    def __init__(self, request_fd, response_fd, number):
        self._in = os.fdopen(request_fd, "rb", buffering=1 << 16)
        self._out = response_fd
        self._number = number
        self._pending = bytearray()

    def receive(self):
        """Return the next request, or None when the parent has closed its end."""
        body = self.receive_bytes()
        return None if body is None else json.loads(body)

    def receive_bytes(self):
        """Return the next request as it came, or None when the parent has closed its end."""
        head = self._in.read(_LENGTH.size)
        if len(head) < _LENGTH.size:
            return None
        (size,) = _LENGTH.unpack(head)
        body = self._in.read(size)
        return body if len(body) == size else None

    def send(self, payload):
        """Queue one frame; it leaves when the buffer is full or ``flush`` is called."""
        self._pending += _ANSWER.pack(self._number, len(payload))
        self._pending += payload
        self._number = (self._number + 1) & 0xFFFFFFFF
        if len(self._pending) >= _FLUSH:
            self.flush()

    def flush(self):
        """Write all queued frames."""
        view = memoryview(self._pending)
        while view:
            view = view[os.write(self._out, view) :]
        self._pending = bytearray()
