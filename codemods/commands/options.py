"""The options that several commands share, and where a command finds the tree that it was given."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from codemods.stack.places import TreePlace, find_tree

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


def tree_place(text: str, record: str | None) -> TreePlace:
    """Return the tree that ``text`` names, and its record; raises UsageError."""
    return find_tree(text, Path.cwd(), record)
