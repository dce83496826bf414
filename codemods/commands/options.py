"""The options that several commands share."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Final

import msgspec
import typer

TREES: Final = "legacy, sglang==X, dir:PATH or a folder"

Record = Annotated[
    str | None,
    typer.Option(
        metavar="M:CLASS",
        help="The record of the fields, such as sglang.srt.server_args:ServerArgs.  [default: as TREE holds]",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, max=1024, help="Processes to spread over.  [default: one a core]", show_default=False),
]


def print_json(value: Any) -> None:
    """Write ``value`` to standard output as JSON, indented; its keys stay in their order."""
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
    sys.stdout.buffer.flush()
