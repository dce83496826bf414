"""The commands that the codemods add to the command line, one in each module.

Every start of the command line imports these modules. So each command imports what it works with only when it runs.
"""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``; the entry point of the group ``stackproof.commands``."""
    # ``harness.cli`` calls this while it is being imported itself, and the commands import parts of it. If somebody
    # else calls this, ``harness.cli`` must be imported before the commands, too.
    import harness.cli  # noqa: F401
    from codemods.commands import explain, migrate, stack

    migrate.register(app)
    explain.register(app)
    app.add_typer(stack.app, name="stack")
