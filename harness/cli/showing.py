"""How a campaign's result is shown and written, and the exit status that it ends with."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from harness.cli.app import STATUS, STOPPED

if TYPE_CHECKING:
    from harness.engine.result.events import Event, Finished, Listener
    from harness.report.reports import Wanted


def show(
    run: Callable[[Listener], Finished], wanted: Sequence[Wanted], save: Path | None, subjects: Sequence[str]
) -> int:
    """Run a campaign, show its result unless a report takes the place of that, and write what is wanted.

    ``save`` is a folder for the witnesses, ``subjects`` what the user called the two. What is written is written also
    when whoever reads what is shown leaves before its end. Returns the exit status.
    """
    from rich.console import Console

    from harness.engine.result.events import Finished
    from harness.report.reports import write_reports
    from harness.report.terminal.gate import TerminalView

    silent = any(one.shown for one in wanted)
    view = TerminalView(Console(highlight=False), Console(stderr=True, highlight=False))

    def show_progress(event: Event) -> None:
        if not isinstance(event, Finished):
            view(event)

    if silent:
        result = run(lambda event: None)
    else:
        with view:
            result = run(show_progress)
    with contextlib.ExitStack() as after:
        after.callback(write_reports, result, wanted)
        if save is not None:
            after.callback(_save, result, save, subjects, silent=silent)
        if not silent:
            view(result)
    return STOPPED if result.interrupted and result.verdict == "equivalent" else STATUS[result.verdict]


def _save(result: Finished, folder: Path, subjects: Sequence[str], *, silent: bool) -> None:
    from harness.report.result.document import save_result

    files = save_result(result, folder)
    if files and not silent:
        again = shlex.join(["stackproof", "replay", str(files[0]), *subjects])
        typer.echo(f"saved    {len(files)} witnesses and result.json in {folder}; run one again with: {again}")
