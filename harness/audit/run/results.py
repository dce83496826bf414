"""Keeps results in a file, one JSON line each, so that an interrupted audit can go on where it stopped."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

import msgspec

from harness.audit.reading.mutant import Mutant
from harness.audit.run.judge import Result
from harness.common.errors import UsageError
from harness.common.reading import parse_json, read_file

_START: Final = b'{"trial":"'
"""The beginning of every line that this module writes."""


class _KeptResult(msgspec.Struct, frozen=True, kw_only=True):
    """A result, and in ``trial`` the digest of the trial and the sources for which it holds."""

    trial: str
    result: Result


class Results:
    """The results in the file ``path``; with None they are kept in memory only.

    ``added`` counts the results of this run. One file may hold results of several trials, or of several versions of
    the sources: each result is found by the digest of both.
    """

    def __init__(self, path: Path | None) -> None:
        """Read the file if it exists. Raises UsageError if it cannot be read, or holds a line that is no result."""
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[tuple[str, Mutant], Result] = {}
        self.added = 0
        if path is not None:
            self._read(path)

    def _read(self, path: Path) -> None:
        """Read the results that earlier runs left in the file, if it exists."""
        try:
            content = read_file(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise UsageError(f"the results in {str(path)!r} cannot be read: {error.strerror or error}") from None
        *lines, torn = content.split(b"\n")
        for number, raw in enumerate(lines, start=1):
            try:
                line = parse_json(raw, _KeptResult)
            except msgspec.DecodeError:
                raise UsageError(f"{path}:{number} is no result of an audit: give another file") from None
            self._known[line.trial, line.result.mutant] = line.result
        if torn:
            if torn[: len(_START)] != _START[: len(torn)]:
                raise UsageError(f"{path}:{len(lines) + 1} is no result of an audit: give another file")
            # A run was ended while it wrote this line, so the line is removed.
            with path.open("rb+") as file:
                file.truncate(len(content) - len(torn))

    def get(self, trial: str, mutant: Mutant) -> Result | None:
        """Return the result of a mutant in the trial with the digest ``trial``, None if there is none yet."""
        return self._known.get((trial, mutant))

    def add(self, trial: str, result: Result) -> None:
        """Keep a result. Raises UsageError when the file cannot be written."""
        with self._lock:
            self._known[trial, result.mutant] = result
            self.added += 1
            if self._path is None:
                return
            try:
                with self._path.open("ab") as file:
                    file.write(msgspec.json.encode(_KeptResult(trial=trial, result=result)) + b"\n")
            except OSError as error:
                raise UsageError(f"the results cannot be kept in {str(self._path)!r}: {error.strerror}") from None
