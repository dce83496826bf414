"""``stackproof resolve``: shows how a launch, or each case of a file, resolves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.frame.app import EQUIVALENT, INCONCLUSIVE, app
from harness.cli.frame.options import SUBJECT_OPTIONS, SUBJECTS, open_specs, takes
from harness.common.errors import UsageError

if TYPE_CHECKING:
    from harness.config import Config


@app.command(short_help="Show the fields that a launch resolves to, and every write.")
@takes(*SUBJECT_OPTIONS)
def resolve(
    config: Config,
    launch: Annotated[
        list[str] | None, typer.Argument(metavar="-- FLAGS", help="Launch flags, or a whole launch command.")
    ] = None,
    subject: Annotated[
        list[str] | None,
        typer.Option(
            metavar="S",
            help=f"The subject: {SUBJECTS}. Give a second one to see both side by side.  [default: those of "
            "pyproject.toml]",
            show_default=False,
        ),
    ] = None,
    hardware: Annotated[str, typer.Option(help="The machine: a profile's name or a JSON object.")] = "h100",
    model: Annotated[str, typer.Option(help="The model: a profile's name or a JSON object.")] = "llama-3.1-8b",
    cases: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Resolve the cases of this file, not a launch.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="With --cases: write the outcomes there.")] = None,
) -> int:
    """Show the fields that a launch, or each case of a file, resolves to, and every write that led there."""
    from harness.report.terminal.resolution import resolve_file, resolve_launch

    if cases is not None and launch:
        raise UsageError("resolve takes launch flags after '--' or --cases FILE, not both")
    if cases is not None and out is not None and out.exists() and cases.exists() and out.samefile(cases):
        raise UsageError(f"--out {out}: this is the file of the cases, name another")
    if cases is None and out is not None:
        raise UsageError("--out goes with --cases: the outcome of a launch is shown on standard output")
    if not subject and not config.subjects:
        raise UsageError("name a --subject, or set subjects under [tool.stackproof] in pyproject.toml")
    if cases is not None and len(subject or config.subjects) > 1:
        raise UsageError("--cases goes with one --subject: the outcomes of each are a file of their own")
    specs = open_specs(config, subject or ())
    if cases is not None:
        answered = resolve_file(specs[0], cases, out)
    else:
        answered = resolve_launch(specs, hardware, model, launch or [], typer.echo)
    return EQUIVALENT if answered else INCONCLUSIVE
