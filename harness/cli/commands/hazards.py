"""``stackproof hazards``: shows the steps whose order matters, and what exchanging two of them changes."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

import typer

from harness.cli.frame.app import EQUIVALENT, app
from harness.cli.frame.options import Format


@app.command(short_help="Show the passes whose order matters, and try each pair exchanged.")
def hazards(
    subject: Annotated[
        str, typer.Option(metavar="S", help="The package, whose steps must declare fields.")
    ] = "declarative",
    cases: Annotated[int, typer.Option(min=1, max=10**5, help="Number of cases.")] = 2000,
    seed: Annotated[int, typer.Option(help="Which cases are drawn.")] = 0,
    field: Annotated[
        str | None, typer.Option(help="Only pairs whose order matters for this field.", show_default=False)
    ] = None,
    format: Annotated[Format, typer.Option(help="How to write the result.")] = Format.terminal,
) -> int:
    """Show the passes whose order matters because of their reads and writes, and try each pair exchanged."""
    from harness.engine.hazards import HazardSearch, find_hazards
    from harness.engine.options import GateOptions
    from harness.report.terminal.hazards import document, say_hazards

    found = find_hazards(HazardSearch(replace(GateOptions().spec(subject), record=False), cases, seed, field))
    if format is Format.json:
        sys.stdout.buffer.write(document(found))
        sys.stdout.buffer.flush()
    else:
        say_hazards(found, typer.echo)
    return EQUIVALENT
