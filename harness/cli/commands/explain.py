"""``stackproof explain``: lists the places that write a field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.frame.app import EQUIVALENT, app
from harness.cli.frame.options import open_specs, takes

if TYPE_CHECKING:
    from harness.config import Config


@app.command()
@takes("answers", "python")
def explain(
    config: Config,
    field: Annotated[str, typer.Argument(metavar="FIELD", help="A resolved field, such as page_size.")],
    subject: Annotated[
        list[str] | None,
        typer.Option(
            metavar="S",
            help="The subject whose code is listed. Can be repeated.  [default: those of pyproject.toml, else legacy "
            "and declarative]",
            show_default=False,
        ),
    ] = None,
) -> int:
    """List the places that write a field, in the order in which the resolution reaches them."""
    from harness.report.terminal.explanation import explain_field

    texts = subject or (() if config.subjects else ("legacy", "declarative"))
    specs = open_specs(config, texts)
    explain_field(field, specs, typer.echo)
    return EQUIVALENT
