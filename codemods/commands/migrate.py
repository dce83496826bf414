"""``stackproof migrate``: does one step, or applies single codemods, on a tree."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from codemods.commands.options import TREES, Jobs, Record
from harness.cli.frame.app import EQUIVALENT
from harness.common.defaults import cores
from harness.common.errors import UsageError


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command(short_help="Move fields one step on, as a patch or in a tree.")(migrate)


def migrate(
    field: Annotated[list[str], typer.Argument(metavar="FIELD...", help="The fields that move, such as page_size.")],
    tree: Annotated[str, typer.Option("--tree", metavar="TREE", help=f"Where they are: {TREES}.")],
    codemod: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Apply this codemod; may be given again, in order.  [default: those of a step]",
            show_default=False,
        ),
    ] = None,
    record: Record = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="CODEMOD.NAME=VALUE", help="An argument of a codemod.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the migrated tree there, a new folder.")
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Write into TREE, which must be a clean git work tree.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Go on where a codemod would refuse; the gate decides.")
    ] = False,
    jobs: Jobs = None,
) -> int:
    """Move fields one step on: print the change as a patch, or write it with --out or --in-place. No gate runs."""
    from codemods.stack.migrate import default_work, migrate_tree
    from codemods.stack.trees import find_tree

    if out is not None and in_place:
        raise UsageError("--out and --in-place ask for opposite things, give one of them")
    place = find_tree(tree, Path.cwd(), record)
    work = default_work(place, field, codemod or (), option or (), force)
    migrate_tree(place, tree, work, out, in_place, jobs or cores(), lambda line, beside: typer.echo(line, err=beside))
    return EQUIVALENT
