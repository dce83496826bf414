"""``stackproof ledger``: writes and checks ledgers, the files of intended differences."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.frame.app import DIFFERENT, EQUIVALENT, app
from harness.common.errors import UsageError

ledger_app = typer.Typer(no_args_is_help=True, help="Write and check a ledger, a file of intended differences.")
app.add_typer(ledger_app, name="ledger")


@ledger_app.command(short_help="Write an entry for each difference that has none yet.")
def propose(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="The JSON result of a gate.")],
    into: Annotated[
        Path | None,
        typer.Option(metavar="LEDGER", help="Add the entries to this file, or create it."),
    ] = None,
) -> int:
    """Write an entry for each difference of a run that has none yet. You then add the reasons."""
    from harness.report.ledger.keeping import add_entries, new_ledger
    from harness.report.result.results import read_result

    found = read_result(result)
    if into is None:
        sys.stdout.write(new_ledger(found))
        return EQUIVALENT
    for line in add_entries(found, into):
        typer.echo(line)
    return EQUIVALENT


@ledger_app.command(short_help="List entries that have expired, explain nothing, or explain too much.")
def check(
    ledgers: Annotated[list[Path], typer.Argument(metavar="LEDGER...", help="Ledgers (TOML files).")],
    result: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="RESULT",
            help="A JSON result of a gate with this ledger, to find unused entries. Can be repeated.",
        ),
    ] = None,
    today: Annotated[
        str,
        typer.Option(metavar="DATE", help="The day to check for.  [default: today in UTC]", show_default=False),
    ] = "",
) -> int:
    """List entries that have expired, explain nothing, or explain too much; exit with 1 if there are any."""
    from harness.report.ledger.keeping import check_lines
    from harness.report.result.results import read_result

    try:
        day = datetime.date.fromisoformat(today) if today else datetime.datetime.now(datetime.UTC).date()
    except ValueError:
        raise UsageError(f"--today {today}: write a date such as 2030-12-31") from None
    runs = [(str(path), read_result(path)) for path in result or ()]
    checked = [check_lines(ledger, day, runs) for ledger in ledgers]
    for lines, _ in checked:
        for line in lines:
            typer.echo(line)
    return EQUIVALENT if all(sound for _, sound in checked) else DIFFERENT


@ledger_app.command(short_help="Print the JSON schema of a ledger, for editors.")
def schema() -> int:
    """Print the JSON schema of a ledger; editors use it to complete and check entries."""
    from harness.report.ledger.schema import ledger_schema

    sys.stdout.write(ledger_schema().decode())
    return EQUIVALENT
