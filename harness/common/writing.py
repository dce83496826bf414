"""Writes files and folders completely or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.common.errors import UsageError

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)  # only Windows has O_BINARY


def make_folder(folder: Path, option: str, needs: str, *, empty: bool = False) -> bool:
    """Make ``folder`` if it does not exist, and check that files can be written into it; return whether it was made.

    ``option`` is the option that names the folder. ``needs`` completes the error for a file in its place: it says why
    a folder is needed. Raises UsageError if the folder cannot be used, or with ``empty`` if it is not empty. Commands
    call this before their work, which may take hours, so that a wrong folder shows at once.
    """
    made = not folder.exists()
    try:
        folder.mkdir(exist_ok=True)
        if empty and next(folder.iterdir(), None) is not None:
            raise UsageError(f"{option} {folder}: the folder is not empty, name a new one")
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (FileExistsError, NotADirectoryError):
        raise UsageError(f"{option} {folder}: this is a file, and {needs}") from None
    except FileNotFoundError:
        raise UsageError(f"{option} {folder}: the folder {folder.parent} does not exist") from None
    except OSError as error:
        raise UsageError(f"{option} {folder}: cannot write there: {error.strerror or error}") from None
    return made


def expanded(text: str) -> Path:
    """Return a path with the home folder in place of ``~``; without a home folder ``~`` stays, as in a shell."""
    path = Path(text)
    with suppress(RuntimeError):
        return path.expanduser()
    return path


def write_atomically(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write ``data``, or its chunks in turn, to ``path``: afterwards the file is complete or as before.

    The bytes go to a new file in the same folder, which then takes the place of ``path``. It is removed if anything
    fails, also if the iterable raises (that exception comes through). A link is followed. A device or a pipe
    (/dev/stdout) cannot be replaced and is written to directly. Raises UsageError if the folder is missing or not
    writable, if the path is a folder, or if the system refuses to write.
    """
    chunks = [data] if isinstance(data, bytes) else data
    try:
        target = Path(os.path.realpath(path))
        mode = _mode_of(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError
        if not target.parent.is_dir():
            raise FileNotFoundError
        if mode is not None and not stat.S_ISREG(mode):
            beside = None
            descriptor = _open_straight(path, mode)
        else:
            # Not made by tempfile, because only the owner may read its files.
            beside = target.with_name(f".{target.name[:80]}.{secrets.token_hex(8)}.tmp")
            descriptor = os.open(beside, _CREATE, 0o666)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise UsageError(_refusal(path, error)) from None

    try:
        _fill(path, descriptor, chunks)
        if beside is not None:
            try:
                if mode is not None:
                    beside.chmod(stat.S_IMODE(mode))
                beside.replace(target)
            except OSError as error:
                raise UsageError(_refusal(path, error)) from None
    except BaseException:  # also for an interrupt: nothing must be left behind
        if beside is not None:
            with suppress(OSError):
                beside.unlink()
        raise


@contextmanager
def folder_atomically(folder: Path) -> Iterator[Path]:
    """Yield a path at which the caller makes a folder; it is renamed to ``folder`` when the block ends without error.

    After an error there is no folder. Raises UsageError if the system refuses to write, or if there is something at
    ``folder`` when the block ends.
    """
    making = folder.with_name(f".{folder.name[:80]}.{secrets.token_hex(8)}.tmp")
    try:
        yield making
        making.rename(folder)
    except OSError as error:
        raise UsageError(_refusal(folder, error)) from None
    finally:
        shutil.rmtree(making, ignore_errors=True)


def os_words(error: OSError) -> str:
    """Return the system's text for an error, without its number; if several files failed to copy, for the first."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list) and error.args[0]:
        source, _, reason = error.args[0][0]
        return f"{source}: {reason}"
    return error.strerror or str(error)


def _open_straight(path: Path, mode: int) -> int:
    """Return a descriptor for writing to a device or a pipe. Raises OSError at once if nobody reads the pipe."""
    if not stat.S_ISFIFO(mode):
        return os.open(path, os.O_WRONLY)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "this is a pipe, and nobody reads from it") from None
        raise
    os.set_blocking(descriptor, True)
    return descriptor


def _mode_of(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _fill(path: Path, descriptor: int, chunks: Iterable[bytes]) -> None:
    """Write every chunk and close. An error in writing becomes a UsageError; one of the iterable comes through."""
    file = os.fdopen(descriptor, "wb")
    try:
        for chunk in chunks:
            try:
                file.write(chunk)
            except OSError as error:
                raise UsageError(_refusal(path, error)) from None
    except BaseException:
        with suppress(OSError):
            file.close()
        raise
    try:
        file.close()  # the buffer's rest is written here
    except OSError as error:
        raise UsageError(_refusal(path, error)) from None


def _refusal(path: Path, error: Exception) -> str:
    text = repr(str(path))
    if isinstance(error, IsADirectoryError):
        return f"cannot write {text}: it is a folder, give the path of a file"
    if isinstance(error, FileNotFoundError):
        return f"cannot write {text}: the folder {str(path.parent)!r} does not exist, create it first"
    if isinstance(error, PermissionError):
        return f"cannot write {text}: no permission in the folder {str(path.parent)!r}"
    return f"cannot write {text}: {os_words(error) if isinstance(error, OSError) else error}"
