"""``stackproof resolve``: what a subject makes of a launch, or of the cases of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.app import EQUIVALENT, INCONCLUSIVE, app
from harness.cli.options import SUBJECTS, AnswersFile, CaseSeconds, Interpreter, MemoryMib, configured, open_specs
from harness.common.errors import UsageError


@app.command(short_help="Show what a launch resolves to, and every write on the way.")
def resolve(
    launch: Annotated[
        list[str] | None, typer.Argument(metavar="-- FLAGS", help="Launch flags, or a whole launch command.")
    ] = None,
    subject: Annotated[
        list[str] | None,
        typer.Option(
            metavar="S",
            help=f"What resolves: {SUBJECTS}. Given again, both side by side.  [default: those of pyproject.toml]",
            show_default=False,
        ),
    ] = None,
    hardware: Annotated[str, typer.Option(help="The machine: a profile's name or a JSON object.")] = "h100",
    model: Annotated[str, typer.Option(help="The model: a profile's name or a JSON object.")] = "llama-3.1-8b",
    cases: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Resolve the cases of this file instead.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the outcomes there, one a line.")] = None,
    answers: AnswersFile = None,
    python: Interpreter = None,
    case_seconds: CaseSeconds = None,
    memory_mib: MemoryMib = None,
) -> int:
    """Show what one subject resolves a launch, or the cases of a file, to."""
    from harness.report.terminal.resolution import resolve_file, resolve_launch

    if cases is not None and launch:
        raise UsageError("resolve takes launch flags after '--' or --cases FILE, not both")
    if cases is not None and out is not None and out.exists() and cases.exists() and out.samefile(cases):
        raise UsageError(f"--out {out}: this is the file of the cases, name another")
    if cases is None and out is not None:
        raise UsageError("--out goes with --cases: the outcome of a launch is shown on standard output")
    config = configured()
    if not subject and not config.subjects:
        raise UsageError("name a --subject, or set subjects under [tool.stackproof] in pyproject.toml")
    if cases is not None and len(subject or config.subjects) > 1:
        raise UsageError("--cases goes with one --subject: the outcomes of each are a file of their own")
    specs = open_specs(
        config, subject or (), answers=answers, python=python, case_seconds=case_seconds, memory_mib=memory_mib
    )
    if cases is not None:
        answered = resolve_file(specs[0], cases, out)
    else:
        answered = resolve_launch(specs, hardware, model, launch or [], typer.echo)
    return EQUIVALENT if answered else INCONCLUSIVE
