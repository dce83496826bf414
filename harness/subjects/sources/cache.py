"""The user's cache. An entry is a folder that is either complete or absent.

An entry is made in a temporary folder beside its place, gets a marker file that lists its files, and is then renamed.
Renaming is atomic, so that a reader never finds half an entry. If two processes make the same entry, the slower one
drops its own.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
import platformdirs

from harness.common.errors import UsageError
from harness.common.reading import parse_json, read_file
from harness.common.writing import expanded

VARIABLE: Final = "STACKPROOF_CACHE"
MARKER: Final = "complete.json"

_MAKING: Final = ".making-"
_STALE_SECONDS: Final = 24 * 60 * 60
# Every file gets this date, so that an edited one is noticed. It is a whole second, because the archives in which CI
# keeps a cache drop fractions.
_SEALED_AT: Final = 946_684_800
_TAKEN: Final = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)


def cache_root() -> Path:
    """Return the folder of the cache: ``STACKPROOF_CACHE``, or the platform's cache folder for stackproof.

    Raises UsageError for a user without a home folder.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return expanded(chosen).absolute()
    try:
        return platformdirs.user_cache_path("stackproof")
    except RuntimeError:
        raise UsageError(f"you have no home folder for the cache: set {VARIABLE} to a folder for it") from None


def complete(folder: Path) -> bool:
    """Return whether ``folder`` is an entry that was finished."""
    return (folder / MARKER).is_file()


def intact(folder: Path) -> bool:
    """Return whether ``folder`` is a finished entry whose files have not changed since."""
    try:
        sealed = parse_json(read_file(folder / MARKER))
    except (OSError, msgspec.DecodeError):
        return False
    found = {}
    for path, status in _files(folder):
        if status.st_mtime != _SEALED_AT:
            return False
        found[path] = status.st_size
    return bool(sealed == found)


def make_entry(folder: Path, fill: Callable[[Path], None], sound: Callable[[Path], bool] = intact) -> Path:
    """Return ``folder``, after making the entry with ``fill`` if there is none or it fails the check ``sound``.

    ``fill`` gets an empty folder and writes the files into it. If it raises, no entry is made.

    Raises UsageError if the cache can't be used.
    """
    with _usable(folder.parent):
        if sound(folder):
            return folder
        folder.parent.mkdir(parents=True, exist_ok=True)
        _sweep(folder.parent)
        making = folder.parent / f"{_MAKING}{os.getpid()}-{secrets.token_hex(6)}"
        making.mkdir()
        try:
            fill(making)
            _seal(making)
            for _ in range(5):
                if _moved(making, folder) or sound(folder):
                    return folder
                discard(folder)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    raise UsageError(
        f"the cache entry {folder} is damaged again as soon as it is made: set {VARIABLE} to a folder of your own"
    )


def discard(folder: Path) -> None:
    """Remove the entry at ``folder``, if any. It is renamed first, so that no reader finds it half removed.

    Raises UsageError if the cache can't be written.
    """
    doomed = folder.parent / f"{_MAKING}{os.getpid()}-{secrets.token_hex(6)}"
    with _usable(folder.parent):
        try:
            folder.rename(doomed)
        except FileNotFoundError:
            return
        if doomed.is_dir() and not doomed.is_symlink():
            shutil.rmtree(doomed, ignore_errors=True)
        else:
            doomed.unlink()


@contextmanager
def _usable(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"the cache in {place} can't be used ({error.strerror or error}): set {VARIABLE} to a folder that"
            " can be written and has room"
        ) from error


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield path and status of each file of an entry, except the marker and Python's own caches."""
    pending = [folder]
    while pending:
        current = pending.pop()
        with os.scandir(current) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        pending.append(Path(entry.path))
                elif current != folder or entry.name != MARKER:
                    path = Path(entry.path).relative_to(folder).as_posix()
                    yield path, entry.stat(follow_symlinks=False)


def _seal(folder: Path) -> None:
    sizes = {}
    for path, status in _files(folder):
        os.utime(folder / path, (_SEALED_AT, _SEALED_AT))
        sizes[path] = status.st_size
    (folder / MARKER).write_text(json.dumps(sizes, sort_keys=True, indent=0) + "\n", encoding="utf-8")


def _moved(making: Path, folder: Path) -> bool:
    """Rename ``making`` to ``folder`` and return True; return False if there is something at ``folder`` already."""
    try:
        making.rename(folder)
    except OSError as error:
        if error.errno not in _TAKEN:
            raise
        return False
    return True


def _sweep(place: Path) -> None:
    """Remove old temporary folders: the processes that made them were killed."""
    oldest = time.time() - _STALE_SECONDS
    for left in place.glob(f"{_MAKING}*"):
        try:
            stale = left.lstat().st_mtime < oldest
        except OSError:
            continue  # its owner has just finished
        if stale:
            shutil.rmtree(left, ignore_errors=True)
