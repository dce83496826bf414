"""Shows the result of a gate, writes its reports, and turns its verdict into an exit status."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from harness.cli.frame.app import STATUS, STOPPED
from harness.cli.frame.options import Format

if TYPE_CHECKING:
    from harness.api import Report
    from harness.engine.result.events import Event, Finished, Listener
    from harness.report.reports import Wanted


def wanted_reports(texts: Sequence[str] | None, format: Format = Format.terminal) -> list[Wanted]:
    """Return the reports that ``--report`` and ``--format`` ask for; ``--format json`` means ``--report json=-``.

    Raises UsageError for a report that cannot be written.
    """
    from harness.report.reports import parse_reports

    return parse_reports([*(texts or ()), *(["json=-"] if format is Format.json else [])])


def show(
    run: Callable[[Listener], Report],
    wanted: Sequence[Wanted],
    save: Path | None,
    *,
    verbose: bool,
) -> int:
    """Run a gate, show its result, write the reports ``wanted``, and return the exit status.

    If a report other than annotations goes to standard output, nothing else is shown. ``save`` is the folder for the
    witnesses, if any. The reports are written even if the reader of standard output leaves early
    (``stackproof gate ... | head``).
    """
    from rich.console import Console

    from harness.engine.result.events import Finished
    from harness.report.reports import write_reports
    from harness.report.terminal.gate import TerminalView

    silent = any(one.shown for one in wanted)
    view = TerminalView(Console(highlight=False), Console(stderr=True, highlight=False), verbose=verbose)

    def show_progress(event: Event) -> None:
        if not isinstance(event, Finished):
            view(event)

    if silent:
        result = run(lambda event: None).result
    else:
        with view:
            result = run(show_progress).result
    # The callbacks run when the block ends, also by an error of ``view``. The last one runs first.
    with contextlib.ExitStack() as after:
        after.callback(write_reports, result, wanted)
        if save is not None:
            after.callback(_save, result, save, silent=silent)
        if not silent:
            view(result)
    # A search that was stopped before it found anything must not end with the status of a passed gate.
    return STOPPED if result.interrupted and result.verdict == "equivalent" else STATUS[result.verdict]


def _save(result: Finished, folder: Path, *, silent: bool) -> None:
    from harness.report.result.document import save_result

    files = save_result(result, folder)
    if files and not silent:
        again = shlex.join(["stackproof", "replay", str(files[0]), result.started.first, result.started.second])
        typer.echo(f"saved    {len(files)} witnesses and result.json in {folder}; run one again with: {again}")
