"""Frames over two pipes: a length (four bytes, big-endian), then that many bytes."""

import json
import os
import struct

_LENGTH = struct.Struct(">I")
# An outcome is a few hundred bytes: one write per batch of this many bytes keeps system calls rare.
_FLUSH = 1 << 15


def encode(value):
    """Return ``value`` as compact JSON bytes, the same bytes for equal values of equal types."""
    return _ENCODER.encode(value).encode()


def _plain(value):
    """JSON for what JSON does not know; the marker key keeps it apart from every plain value."""
    if isinstance(value, (set, frozenset)):
        return {"$set": sorted(map(repr, value))}
    return {"$" + type(value).__name__: repr(value)}


_ENCODER = json.JSONEncoder(separators=(",", ":"), default=_plain, ensure_ascii=False)


class Wire:
    """The child's end: reads requests, buffers answers, flushes them in whole frames."""

    def __init__(self, request_fd, response_fd):
        self._in = os.fdopen(request_fd, "rb", buffering=1 << 16)
        self._out = response_fd
        self._pending = bytearray()

    def receive(self):
        """Return the next request, or None when the parent has closed its end."""
        head = self._in.read(_LENGTH.size)
        if len(head) < _LENGTH.size:
            return None
        (size,) = _LENGTH.unpack(head)
        body = self._in.read(size)
        return json.loads(body) if len(body) == size else None

    def send(self, payload):
        """Queue one frame; it leaves when the buffer is full or ``flush`` is called."""
        self._pending += _LENGTH.pack(len(payload))
        self._pending += payload
        if len(self._pending) >= _FLUSH:
            self.flush()

    def flush(self):
        """Write all queued frames."""
        view = memoryview(self._pending)
        while view:
            view = view[os.write(self._out, view) :]
        self._pending = bytearray()
