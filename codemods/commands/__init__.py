"""The commands that the codemods bring to the command line, one a module.

Every start of the command line reads them: what a command works with is imported when it runs.
"""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``; the entry point of the group ``stackproof.commands``."""
    # The core calls this while it is imported, and the commands import the core: so it goes first, whoever calls.
    import harness.cli  # noqa: F401
    from codemods.commands import explain, migrate, stack

    migrate.register(app)
    explain.register(app)
    app.add_typer(stack.app, name="stack")
