"""``stackproof replay``: runs the cases of a file on two subjects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.frame.app import STATUS, app
from harness.cli.frame.options import (
    SUBJECT_OPTIONS,
    FirstOrConfigured,
    Reports,
    SecondOrConfigured,
    chosen_subjects,
    open_specs,
    takes,
)

if TYPE_CHECKING:
    from harness.config import Config


@app.command(short_help="Run the cases of a file on A and B and show what differs.")
@takes(*SUBJECT_OPTIONS)
def replay(
    config: Config,
    case_file: Annotated[Path, typer.Argument(metavar="CASE", help="A file of cases, such as gate --save writes.")],
    first: FirstOrConfigured = None,
    second: SecondOrConfigured = None,
    report: Reports = None,
) -> int:
    """Run the cases of a file on A and B and show what differs in each."""
    from harness.api import replay
    from harness.cli.frame.showing import wanted_reports
    from harness.formats.contract import case_lines, parse_cases
    from harness.moves.change import two_subjects
    from harness.report.reports import write_reports
    from harness.report.terminal.replay import replay_cases

    wanted = wanted_reports(report)
    one, other = open_specs(config, chosen_subjects(config, first, second))
    silent = any(report.shown for report in wanted)
    content = case_lines(case_file)
    verdict = replay_cases(content, case_file, one, other, (lambda line: None) if silent else typer.echo)
    if wanted:
        found = replay(two_subjects(one, other), parse_cases(content, case_file))
        write_reports(found.result, wanted)
    return STATUS[verdict]
