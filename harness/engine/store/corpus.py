"""A folder of cases worth running first: one readable file for each case, and the known failures.

``cases/NAME.jsonl`` holds one case as ``replay`` reads it. ``failures`` is a Hypothesis example database, which its
tools share between machines: each value is the line of a case that showed a difference.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec
from hypothesis.database import DirectoryBasedExampleDatabase

from harness.common.writing import make_folder, write_atomically
from harness.formats.contract import encode_case, parse_case, read_cases
from harness.world.case import Case

_FAILURES: Final = b"stackproof"


def named(case: Case) -> Case:
    """Return the case with a digest of its content as its id, so that equal cases have equal ids in every run."""
    text = encode_case(msgspec.structs.replace(case, id="-"))
    return msgspec.structs.replace(case, id=hashlib.sha256(text).hexdigest()[:16])


class Corpus:
    """The folder of a corpus; it is made if it does not exist."""

    def __init__(self, folder: Path) -> None:
        """Make the folders; raises UsageError if files in ``folder`` cannot be read and written."""
        self.folder = folder
        self._cases = folder / "cases"
        failures = folder / "failures"
        # Hypothesis' database silently ignores a folder that it cannot write to.
        for part in (folder, self._cases, failures):
            make_folder(part, "--corpus", "a corpus is a folder")
        self._failures = DirectoryBasedExampleDatabase(failures)

    def cases(self) -> list[Case]:
        """Return the failures and then the cases, each once, in an order that depends on their contents alone.

        Raises UsageError for a file that holds no case.
        """
        found = {case.id: case for case in self._known_failures()}
        for path in sorted(self._cases.glob("*.jsonl")):
            for case in map(named, read_cases(path)):
                found.setdefault(case.id, case)
        return list(found.values())

    def _known_failures(self) -> Iterator[Case]:
        for line in sorted(self._failures.fetch(_FAILURES)):
            yield self._named(line)

    def _named(self, line: bytes) -> Case:
        return named(parse_case(line, f"{self.folder / 'failures'}"))

    def replace(self, known: Iterable[Case], kept: Iterable[Case]) -> None:
        """Write the cases ``kept`` and remove those of ``known`` that are not among them; other cases stay."""
        wanted = {case.id: case for case in map(named, kept)}
        for name, case in wanted.items():
            path = self._cases / f"{name}.jsonl"
            if not path.exists():
                write_atomically(path, encode_case(case) + b"\n")
        for case in known:
            if case.id not in wanted:
                with contextlib.suppress(FileNotFoundError):
                    (self._cases / f"{case.id}.jsonl").unlink()

    def remember(self, failing: Iterable[Case], ran: Iterable[Case]) -> None:
        """Add the ``failing`` cases; remove the known failures that ``ran`` and are not among them."""
        lines = {encode_case(named(case)) for case in failing}
        for line in sorted(lines):
            self._failures.save(_FAILURES, line)
        names = {case.id for case in ran}
        for line in sorted(self._failures.fetch(_FAILURES)):
            if line not in lines and self._named(line).id in names:
                self._failures.delete(_FAILURES, line)
