"""``stackproof replay``: the cases of a file on two subjects."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.app import STATUS, app
from harness.cli.options import (
    AnswersFile,
    CaseSeconds,
    FirstOrConfigured,
    Interpreter,
    MemoryMib,
    Reports,
    SecondOrConfigured,
    chosen_subjects,
    configured,
    open_specs,
)


@app.command(short_help="Run the cases of a file on A and B and show what differs.")
def replay(
    case_file: Annotated[Path, typer.Argument(metavar="CASE", help="A file of cases, such as gate --save writes.")],
    first: FirstOrConfigured = None,
    second: SecondOrConfigured = None,
    report: Reports = None,
    answers: AnswersFile = None,
    python: Interpreter = None,
    case_seconds: CaseSeconds = None,
    memory_mib: MemoryMib = None,
) -> int:
    """Run the cases of a file on A and B and show what differs in each."""
    from harness.engine.campaign import Request, run_given
    from harness.formats.contract import case_lines, parse_cases
    from harness.report.reports import parse_reports, write_reports
    from harness.report.terminal.replay import replay_cases

    wanted = parse_reports(report or ())
    config = configured()
    names = chosen_subjects(config, first, second)
    specs = open_specs(
        config, names, answers=answers, python=python, case_seconds=case_seconds, memory_mib=memory_mib
    )
    silent = any(one.shown for one in wanted)
    content = case_lines(case_file)
    verdict = replay_cases(content, case_file, specs[0], specs[1], (lambda line: None) if silent else typer.echo)
    if wanted:
        write_reports(run_given(Request(first=specs[0], second=specs[1]), parse_cases(content, case_file)), wanted)
    return STATUS[verdict]
