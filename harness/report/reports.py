"""The report formats by name, and the writing of the reports that a user asks for.

To add a format, write a function from a result to bytes in a module of its own, and add its name to `FORMATS` and to
the table in `write_reports`.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from harness.common.errors import UsageError, hint
from harness.common.writing import write_atomically
from harness.engine.result.events import Finished
from harness.report.ci.github import summary, workflow_commands
from harness.report.ci.junit import junit
from harness.report.ci.sarif import sarif
from harness.report.html.page import html
from harness.report.result.document import document
from harness.report.wording.stack import Stack

_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
GITHUB: Final = "github"

FORMATS: Final = ("json", "junit", "sarif", "html", "markdown", "annotations", GITHUB)
"""The formats that ``--report`` accepts."""


class Wanted(NamedTuple):
    """A report to write: its format and its file. If ``path`` is None, it goes to standard output.

    ``append`` adds the report to the end of a file, because other steps of the same job may have written to it.
    """

    format: str
    path: Path | None
    append: bool = False

    @property
    def shown(self) -> bool:
        """Whether the report goes to standard output and takes the place of the text for a person.

        Annotations do not: GitHub reads them from a log that also holds other text.
        """
        return self.path is None and self.format != "annotations"


def parse_report(text: str) -> list[Wanted]:
    """Return the reports that ``FORMAT=FILE`` asks for; the file ``-`` is standard output.

    ``github`` gives two reports: annotations on standard output, and a summary that is added to FILE. Without a FILE
    the summary is added to the file that GitHub Actions names in ``GITHUB_STEP_SUMMARY``. Raises UsageError for an
    unknown format or if no file is named.
    """
    format, equals, file = text.partition("=")
    if format not in FORMATS:
        raise UsageError(
            f"--report {text}: there is no report {format!r}{hint(format, FORMATS)}; the reports are"
            f" {', '.join(FORMATS[:-1])} and {FORMATS[-1]}"
        )
    if format == GITHUB:
        return [Wanted("annotations", None), _summary(text, file)]
    if not file:
        missing = "names no file" if equals else "says not where to"
        raise UsageError(f"--report {text}: this {missing}: write {format}=FILE, or {format}=- for standard output")
    return [Wanted(format, None if file == "-" else Path(file))]


def _summary(text: str, file: str) -> Wanted:
    if file == "-":
        return Wanted("markdown", None)
    named = file or os.environ.get(_SUMMARY, "")
    if not named:
        raise UsageError(
            f"--report {text}: the variable {_SUMMARY} is not set, as it is in a step of GitHub Actions: name a file"
            " for the summary with github=FILE"
        )
    return Wanted("markdown", Path(named), append=True)


def parse_reports(texts: Sequence[str]) -> list[Wanted]:
    """Return the reports that the ``FORMAT=FILE`` texts of one run ask for.

    Raises UsageError for a text that `parse_report` refuses, for two reports to one file, and for a file that cannot
    be written. Each file is tried now, so that a mistake does not show only after a long run.
    """
    wanted = [one for text in texts for one in parse_report(text)]
    taken: dict[str, Wanted] = {}
    for one in wanted:
        _check(one)
        place = os.path.realpath(one.path) if one.path is not None else "standard output"
        other = taken.setdefault(place, one)
        if other is not one and not (one.path is None and {one.format, other.format} == {"annotations", "markdown"}):
            where = "standard output" if one.path is None else repr(str(one.path))
            raise UsageError(f"--report: {other.format} and {one.format} would both be written to {where}")
    return wanted


def _check(wanted: Wanted) -> None:
    """Raise UsageError if the file of a report cannot be written. The check leaves no file behind."""
    path = wanted.path
    if path is None:
        return
    name = f"--report {wanted.format}={path}"
    try:
        if path.is_dir():
            raise UsageError(f"{name}: this is a folder, name a file in it")
        target = Path(os.path.realpath(path))
        if not target.parent.is_dir():
            raise UsageError(f"{name}: the folder {str(path.parent)!r} does not exist, create it first")
        if not path.exists() or path.is_file():
            with tempfile.TemporaryFile(dir=target.parent):
                pass
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise UsageError(f"{name}: cannot write there: {reason}") from None


def write_reports(result: Finished, wanted: Sequence[Wanted], stack: Stack | None = None) -> None:
    """Make all reports, then write them. Each file is written whole or stays as it was.

    If the gate is one step of a stack, ``stack`` is that stack, which the HTML page shows. If one report cannot be
    written, the others are written nevertheless; then a UsageError names the ones that failed.
    """
    makers: dict[str, Callable[[], bytes]] = {
        "json": lambda: document(result),
        "junit": lambda: junit(result),
        "sarif": lambda: sarif(result),
        "html": lambda: html(result, stack),
        "markdown": lambda: summary(result),
        "annotations": lambda: workflow_commands(result),
    }
    # All are made before any is written, so that a failure in making one leaves no file.
    made = [(one, makers[one.format]()) for one in wanted]
    failures = []
    for one, data in made:
        try:
            write_one(one, data)
        except UsageError as error:
            failures.append(f"--report {one.format}: {error}")
    if failures:
        raise UsageError("; ".join(failures))


def write_one(wanted: Wanted, data: bytes) -> None:
    """Write ``data``, the bytes of one report. Raises UsageError if that is not possible."""
    if wanted.path is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    elif wanted.append:
        _append(wanted.path, data)
    else:
        write_atomically(wanted.path, data)


def _append(path: Path, data: bytes) -> None:
    """Add ``data`` to the end of a file; if it does not fit, the file keeps its old content. Raises UsageError."""
    try:
        if path.is_fifo():  # a pipe cannot be cut back, and opening one that has no reader would block
            write_atomically(path, data)
            return
        with path.open("ab", buffering=0) as file:
            before = file.tell()
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[file.write(rest) :]
            except OSError:
                with contextlib.suppress(OSError):  # a device cannot be cut back
                    file.truncate(before)
                raise
    except OSError as error:
        raise UsageError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
