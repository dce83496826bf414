"""The command line: it turns words into options, calls `harness.api`, and turns results into an exit status."""

from __future__ import annotations

import importlib
import importlib.metadata
import io
import os
import pkgutil
import sys

from harness.cli import commands
from harness.cli.frame.app import app, guarded

__all__ = ["app", "guarded", "main"]

# Packages that build on the core, such as the codemods, add commands of their own.
_GROUP = "stackproof.commands"

for _module in sorted(module.name for module in pkgutil.iter_modules(commands.__path__)):
    importlib.import_module(f"{commands.__name__}.{_module}")
for _entry in sorted(importlib.metadata.entry_points(group=_GROUP), key=lambda entry: entry.name):
    _entry.load()(app)


def main() -> None:
    """Run the command line and end the process with its status."""
    _open_standard()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a character gets its escape instead.
            stream.reconfigure(errors="backslashreplace")
    sys.exit(guarded(lambda: app(standalone_mode=False)))


def _open_standard() -> None:
    """Open standard input, output and error if they are closed: otherwise a file of ours would get their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The system gives out the lowest free number, so this is ``number``. Child processes need it open, too.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
