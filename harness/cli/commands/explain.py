"""``stackproof explain``: who writes a field."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.cli.app import EQUIVALENT, app
from harness.cli.options import AnswersFile, Interpreter, configured, open_specs


@app.command()
def explain(
    field: Annotated[str, typer.Argument(metavar="FIELD", help="A resolved field, such as page_size.")],
    subject: Annotated[
        list[str] | None,
        typer.Option(
            metavar="S",
            help="Whose writers; may be given again.  [default: pyproject.toml's, else legacy and declarative]",
            show_default=False,
        ),
    ] = None,
    answers: AnswersFile = None,
    python: Interpreter = None,
) -> int:
    """List the places that write a field, in the order in which the resolution comes to them."""
    from harness.report.terminal.explanation import explain_field

    config = configured()
    texts = subject or (() if config.subjects else ("legacy", "declarative"))
    specs = open_specs(config, texts, answers=answers, python=python)
    explain_field(field, specs, typer.echo)
    return EQUIVALENT
