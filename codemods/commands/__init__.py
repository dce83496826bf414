"""The commands that the codemods bring to the command line, one a module."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``; the entry point of the group ``stackproof.commands``."""
    # Imported here: the core reads this package before it knows whether a command of ours was asked for.
    from codemods.commands import explain, migrate, stack

    migrate.register(app)
    explain.register(app)
    app.add_typer(stack.app, name="stack")
