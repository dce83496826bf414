"""The command line: it reads the options, calls `harness.api`, shows the result, and returns an exit status."""

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

# The entry points by which packages that build on the core, such as the codemods, add commands of their own.
_GROUP = "stackproof.commands"

for _module in sorted(module.name for module in pkgutil.iter_modules(commands.__path__)):
    importlib.import_module(f"{commands.__name__}.{_module}")
for _entry in sorted(importlib.metadata.entry_points(group=_GROUP), key=lambda entry: entry.name):
    _entry.load()(app)


def main() -> None:
    """Run the command line, and end the process with its exit status."""
    _open_standard()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # If the encoding of a terminal lacks a character, an escape is printed instead.
            stream.reconfigure(errors="backslashreplace")
    sys.exit(guarded(lambda: app(standalone_mode=False)))


def _open_standard() -> None:
    """Open standard input, output and error if they are closed.

    Otherwise the next files that we open would get their numbers, and be taken for them.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The system gives a new file the lowest free number, so this one gets ``number``. It is made
            # inheritable because child processes need it open, too.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
