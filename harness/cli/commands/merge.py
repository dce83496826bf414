"""``stackproof merge``: the shards of a campaign, and one verdict."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.app import app
from harness.cli.options import Format, Interpreter, Jobs, Reports, Save, configured, cores


@app.command(short_help="Put the shards of a search together, and judge.")
def merge(
    shards: Annotated[list[Path], typer.Argument(metavar="SHARD...", help="The files of all shards of a campaign.")],
    repository: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where git: and dir: subjects are looked up, instead of here.")
    ] = None,
    jobs: Jobs = None,
    format: Annotated[Format, typer.Option(help="How to write the result.")] = Format.terminal,
    report: Reports = None,
    save: Save = None,
    python: Interpreter = None,
) -> int:
    """Put the shards of a campaign together, minimise what differs, and say whether A and B ever differ."""
    from harness.cli.showing import show
    from harness.engine.campaign import conclude_shards
    from harness.report.reports import parse_reports
    from harness.report.result.document import folder_for
    from harness.report.result.shards import open_again, read_shards
    from harness.subjects.open import checked_interpreter

    wanted = parse_reports([*(report or ()), *(["json=-"] if format is Format.json else [])])
    config = configured()
    with folder_for(save):
        asked, gathered = read_shards(shards)
        request = open_again(
            asked,
            checked_interpreter(python or config.python or sys.executable),
            jobs or cores(),
            repository or Path.cwd(),
        )
        names = request.first.label, request.second.label
        return show(lambda listener: conclude_shards(request, gathered, listener), wanted, save, names)
