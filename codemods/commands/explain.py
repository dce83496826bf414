"""``stackproof explain``: with ``--tree``, what the text of a tree says of a field; else the core's own command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codemods.commands.options import TREES, Jobs, Record
from harness.cli.commands.explain import explain as explain_subjects
from harness.cli.frame.app import EQUIVALENT
from harness.cli.frame.options import Format, takes
from harness.common.defaults import cores
from harness.common.errors import UsageError

if TYPE_CHECKING:
    from harness.config import Config


def register(app: typer.Typer) -> None:
    """Replace the core's command of the same name, which this one extends."""
    app.registered_commands[:] = [
        command for command in app.registered_commands if command.callback is not explain_subjects
    ]
    app.command(short_help="List the writers of a field; with --tree what blocks a move.")(explain)


@takes("answers", "python")
def explain(
    config: Config,
    field: Annotated[list[str], typer.Argument(metavar="FIELD...", help="A resolved field, such as page_size.")],
    tree: Annotated[
        str | None,
        typer.Option("--tree", metavar="TREE", help=f"Read this tree's text: {TREES}.", show_default=False),
    ] = None,
    record: Record = None,
    origin: Annotated[
        str | None,
        typer.Option("--from", metavar="SLOT", help="Judge a move of the writer in this slot.", show_default=False),
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="SLOT", help="Where it would move to.", show_default=False)
    ] = None,
    subject: Annotated[
        list[str] | None,
        typer.Option(
            metavar="S",
            help="Without --tree: whose writers; may be given again.  [default: pyproject.toml's, else legacy and "
            "declarative]",
            show_default=False,
        ),
    ] = None,
    format: Annotated[Format, typer.Option(help="How to write what --tree gives.")] = Format.terminal,
    jobs: Jobs = None,
) -> int:
    """List the writers of a field; with --tree also its readers, and what blocks the lift of each write."""
    if tree is None:
        for name, given in (("--record", record), ("--from", origin), ("--to", to)):
            if given is not None:
                raise UsageError(f"{name} is about a tree: give --tree too")
        if format is not Format.terminal:
            raise UsageError("--format json is about a tree: give --tree too")
        options = config.options
        for name in field:
            explain_subjects(field=name, subject=subject, answers=options.answers, python=options.python)
        return EQUIVALENT
    if subject:
        raise UsageError("--subject and --tree ask for different things, give one of them")
    if (origin is None) != (to is None):
        raise UsageError("a move needs both --from and --to, each with the name or number of a slot")
    from codemods.stack.explain import explained
    from codemods.stack.trees import find_tree

    move = (origin, to) if origin is not None and to is not None else None
    place = find_tree(tree, Path.cwd(), record)
    as_data = format is Format.json
    typer.echo(explained(place, field, move=move, as_data=as_data, jobs=jobs or cores()), nl=False)
    return EQUIVALENT
