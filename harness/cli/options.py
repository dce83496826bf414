"""The options that several commands share."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

DEFAULT_CASES: Final = 20000
"""Cases of a gate for which neither a number nor a time was asked for."""


class Format(StrEnum):
    """How a result is written."""

    terminal = "terminal"
    json = "json"


SUBJECTS: Final = "legacy, declarative, sglang==X, git:REV or dir:PATH; #slice or #legacy behind it"

FIRST: Final = typer.Argument(metavar="A", help=f"The original: {SUBJECTS}.", show_default=False)
SECOND: Final = typer.Argument(metavar="B", help="Its successor, named in the same way.", show_default=False)
FirstSubject = Annotated[str, FIRST]
SecondSubject = Annotated[str, SECOND]
AnswersFile = Annotated[
    Path | None, typer.Option("--answers", metavar="FILE", help="Answers for probes that the built-in ones miss.")
]
Interpreter = Annotated[
    str, typer.Option("--python", metavar="PATH", help="The interpreter that runs the trees.", show_default=False)
]
CaseSeconds = Annotated[float, typer.Option(min=0.01, max=86400, help="Seconds one case may take.")]
MemoryMib = Annotated[int, typer.Option(min=128, max=1 << 24, help="MiB of memory a tree's process may take.")]

Reports = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        metavar="FORMAT=FILE",
        help="Write a report: json, junit, sarif, html, markdown, annotations, or github; may be given again.",
        show_default=False,
    ),
]

Jobs = Annotated[
    int | None,
    typer.Option(min=1, max=1024, help="Processes to spread over.  [default: one a core]", show_default=False),
]
Save = Annotated[Path | None, typer.Option(metavar="DIR", help="Write each witness there as a case file for replay.")]


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
