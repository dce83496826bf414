"""How a campaign's result is shown and written, and the exit status that it ends with."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from harness.cli.app import STATUS, STOPPED

if TYPE_CHECKING:
    from harness.engine.events import Finished, Listener
    from harness.report.reports import Wanted


def show(
    run: Callable[[Listener], Finished], wanted: Sequence[Wanted], save: Path | None, subjects: Sequence[str]
) -> int:
    """Run a campaign, show its result unless a report takes the place of that, and write what is wanted.

    ``save`` is a folder for the witnesses, ``subjects`` what the user called the two. Returns the exit status.
    """
    from rich.console import Console

    from harness.report.document import save_result
    from harness.report.reports import write_reports
    from harness.report.terminal import TerminalView

    silent = any(one.shown for one in wanted)
    if silent:
        result = run(lambda event: None)
    else:
        with TerminalView(Console(highlight=False), Console(stderr=True, highlight=False)) as view:
            result = run(view)
    if save is not None:
        files = save_result(result, save)
        if files and not silent:
            again = shlex.join(["stackproof", "replay", str(files[0]), *subjects])
            typer.echo(f"saved    {len(files)} witnesses and result.json in {save}; run one again with: {again}")
    write_reports(result, wanted)
    return STOPPED if result.interrupted and result.verdict == "equivalent" else STATUS[result.verdict]
