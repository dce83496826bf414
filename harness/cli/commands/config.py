"""``stackproof config show``: lists the settings in use, and where each comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import typer

from harness.cli.frame.app import EQUIVALENT, app
from harness.cli.frame.options import configured
from harness.common.errors import visible

_config: Final = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The settings of pyproject.toml.")
app.add_typer(_config, name="config")


@_config.callback()
def config() -> None:
    """The settings of [tool.stackproof] in pyproject.toml."""


@_config.command()
def show() -> int:
    """List every setting in use, and whether pyproject.toml sets it."""
    from harness.config import FILE, TABLE

    found = configured()
    if found.file is None:
        typer.echo(f"there is no {FILE} with [{TABLE}] in {Path.cwd()} or above it; 'stackproof init' writes a start")
    else:
        typer.echo(f"{FILE} is {found.file}")
    settings = list(found.settings())
    keys, sources = (max(map(len, column)) for column in ([s.key for s in settings], [s.source for s in settings]))
    for setting in settings:
        typer.echo(f"{setting.key:{keys}}  {setting.source:{sources}}  {visible(setting.value)}")
    return EQUIVALENT
