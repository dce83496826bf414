"""``stackproof explain``: who writes a field."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from harness.cli.app import EQUIVALENT, app
from harness.cli.options import AnswersFile, Interpreter


@app.command()
def explain(
    field: Annotated[str, typer.Argument(metavar="FIELD", help="A resolved field, such as page_size.")],
    subject: Annotated[
        list[str] | None,
        typer.Option(
            metavar="S",
            help="Whose writers; may be given again.  [default: legacy and declarative]",
            show_default=False,
        ),
    ] = None,
    answers: AnswersFile = None,
    python: Interpreter = sys.executable,
) -> int:
    """List the places that write a field, in the order in which the resolution comes to them."""
    from harness.report.explanation import explain_field
    from harness.subjects.open import open_spec

    specs = [
        open_spec(text, answers=answers, python=python, case_seconds=10.0, memory_mib=2048)
        for text in subject or ["legacy", "declarative"]
    ]
    explain_field(field, specs, typer.echo)
    return EQUIVALENT
