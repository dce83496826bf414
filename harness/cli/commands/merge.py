"""``stackproof merge``: puts the shards of a gate together, and shows the verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.frame.app import app
from harness.cli.frame.options import Format, Reports, Save, Verbose, takes

if TYPE_CHECKING:
    from harness.config import Config


@app.command(short_help="Put the shards of a search together, and judge.")
@takes("jobs", "python")
def merge(
    config: Config,
    shards: Annotated[
        list[Path], typer.Argument(metavar="SHARD...", help="The files of all shards, as gate --shard wrote them.")
    ],
    repository: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder at which git: and dir: subjects start.  [default: this folder]"),
    ] = None,
    format: Annotated[Format, typer.Option(help="How to write the result.")] = Format.terminal,
    verbose: Verbose = False,
    report: Reports = None,
    save: Save = None,
) -> int:
    """Put the shards of a search together, minimise what differs, and say whether A and B ever differ."""
    from harness.api import merge_parts
    from harness.cli.frame.showing import show, wanted_reports
    from harness.report.result.document import folder_for

    wanted = wanted_reports(report, format)
    with folder_for(save):
        folder = repository or Path.cwd()
        return show(
            lambda listener: merge_parts(shards, config.options, folder, listener), wanted, save, verbose=verbose
        )
