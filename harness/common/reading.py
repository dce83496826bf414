"""Reads whole files, whatever they are: refuses devices, which may have no end, and files that are too large."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from pathlib import Path
from typing import Any, Final, TypeVar, overload

import msgspec

LARGEST: Final = 512 << 20
"""The size in bytes of the largest file that is read whole."""

_CHUNK: Final = 1 << 20
# Without O_NONBLOCK, opening a named pipe would wait for a writer, with no limit of time.
_OPEN: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
# Seconds to wait for a writer to open a named pipe. Once one has, there is no limit to how long it may take to write.
_PATIENCE: Final = 3.0

T = TypeVar("T")


def read_file(path: Path, largest: int = LARGEST) -> bytes:
    """Return the content of the file ``path``; a pipe or a terminal is read to its end.

    Raises OSError with a ``strerror`` for users, also for a device, a named pipe without a writer, more than
    ``largest`` bytes, and a text that cannot be a path.
    """
    try:
        descriptor = os.open(path, _OPEN)
    except ValueError as error:  # a null character, or one that the file system's encoding lacks
        raise OSError(errno.EINVAL, f"this cannot be a path: {error}") from None
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if stat.S_ISREG(status.st_mode) and status.st_size > largest:
            raise _too_large(largest)
        if stat.S_ISCHR(status.st_mode) and not os.isatty(descriptor):
            raise OSError(errno.EINVAL, "this is a device, give the path of a file")
        part = _first_of(descriptor) if stat.S_ISFIFO(status.st_mode) else b""
        os.set_blocking(descriptor, True)
        parts, size = [part], len(part)
        while size <= largest:
            part = os.read(descriptor, _CHUNK)
            if not part:
                return b"".join(parts)
            parts.append(part)
            size += len(part)
        raise _too_large(largest)
    finally:
        os.close(descriptor)


def _first_of(pipe: int) -> bytes:
    """Return the first bytes of a pipe; empty if its writer has sent none yet. Raises OSError if it has no writer."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            if first := os.read(pipe, _CHUNK):
                return first
        except BlockingIOError:  # there is a writer, but no data yet; without a writer, `read` returns no bytes
            return b""
        if time.monotonic() > deadline:
            raise OSError(errno.ENXIO, "this is a pipe, and nobody writes into it")
        time.sleep(0.01)


def _too_large(largest: int) -> OSError:
    return OSError(errno.EFBIG, f"this is larger than {largest >> 20} MiB, which is the most that is read")


def seal(value: object) -> str:
    """Return a digest of decoded JSON, the same for any order of its keys."""
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()


@overload
def parse_json(data: bytes | str) -> Any: ...
@overload
def parse_json(data: bytes | str, kind: type[T]) -> T: ...
def parse_json(data: bytes | str, kind: Any = Any) -> Any:
    """Return JSON text as a ``kind``. Raises msgspec.DecodeError for any text that is not one."""
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError:
        raise msgspec.DecodeError("it is nested too deeply") from None
    except (UnicodeError, OverflowError) as error:
        raise msgspec.DecodeError(str(error)) from None
