"""``stackproof profiles``: lists the machines and models that have a name."""

from __future__ import annotations

import typer

from harness.cli.frame.app import EQUIVALENT, app
from harness.cli.frame.options import configured


@app.command()
def profiles() -> int:
    """List the machines and models that have a name."""
    from harness.report.wording.launches import machine_words
    from harness.world.profiles import hardware_names, hardware_profile, model_names, model_profile

    configured()
    typer.echo("hardware")
    for name in hardware_names():
        typer.echo(f"  {name:24}{machine_words(hardware_profile(name), named=False)}")
    typer.echo("models")
    for name in model_names():
        typer.echo(f"  {name:24}{'/'.join(model_profile(name).architectures)}")
    return EQUIVALENT
