"""The options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from harness.common.defaults import DEFAULT_CASES, cores
from harness.common.errors import UsageError

if TYPE_CHECKING:
    from harness.config import Config
    from harness.subjects.spec import SubjectSpec

__all__ = ["DEFAULT_CASES", "cores"]


class Format(StrEnum):
    """How a result is written."""

    terminal = "terminal"
    json = "json"


SUBJECTS: Final = "python:MODULE:CALLABLE, git:REV or dir:PATH (#slice or #python:... behind it), legacy, sglang==X"
_CONFIGURED: Final = "  [default: those of pyproject.toml]"

FirstSubject = Annotated[str, typer.Argument(metavar="A", help=f"The original: {SUBJECTS}.")]
SecondSubject = Annotated[str, typer.Argument(metavar="B", help="Its successor, named in the same way.")]
FirstOrConfigured = Annotated[
    str | None, typer.Argument(metavar="A", help=f"The original: {SUBJECTS}.{_CONFIGURED}", show_default=False)
]
SecondOrConfigured = Annotated[
    str | None, typer.Argument(metavar="B", help="Its successor, named in the same way.", show_default=False)
]
AnswersFile = Annotated[
    Path | None, typer.Option("--answers", metavar="FILE", help="Answers for probes that the built-in ones miss.")
]
Interpreter = Annotated[
    str | None,
    typer.Option("--python", metavar="PATH", help="The interpreter that runs the trees.", show_default=False),
]
CaseSeconds = Annotated[
    float | None,
    typer.Option(min=0.01, max=86400, help="Seconds one case may take.  [default: 10.0]", show_default=False),
]
MemoryMib = Annotated[
    int | None,
    typer.Option(
        min=128, max=1 << 24, help="MiB of memory a tree's process may take.  [default: 2048]", show_default=False
    ),
]

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


def configured() -> Config:
    """Return the configuration of the folder that the user stands in; this process then knows its profiles."""
    from harness.config import load_config
    from harness.world.profiles import use_profiles

    config = load_config(Path.cwd())
    use_profiles(config.profiles)
    return config


def chosen_subjects(config: Config, first: str | None, second: str | None, otherwise: str = "") -> tuple[str, ...]:
    """Return the two subjects of the command line, or none where the configuration's are meant.

    ``otherwise`` says what else the command takes. Raises UsageError for one alone, and where there is no
    configuration.
    """
    if first is not None and second is not None:
        return first, second
    if first is not None:
        raise UsageError(
            f"two subjects are compared, A and B, and {first!r} is one: name the other behind it{otherwise}"
        )
    if not config.subjects:
        raise UsageError(
            f"name two subjects{otherwise}, or set subjects under [tool.stackproof] in pyproject.toml "
            "('stackproof init' writes a start)"
        )
    return ()


def open_specs(
    config: Config,
    texts: Sequence[str],
    *,
    answers: Path | None,
    python: str | None,
    case_seconds: float | None = None,
    memory_mib: int | None = None,
    folder: Path | None = None,
) -> list[SubjectSpec]:
    """Return the subjects that ``texts`` name, or the configuration's where there are none.

    What is None is as configured. A relative path, and a revision, are of ``folder``, or of the one that the user
    stands in. Raises UsageError for whatever does not exist.
    """
    from harness.subjects.open import open_spec

    return [
        open_spec(
            text,
            answers=answers or config.answers,
            python=python or config.python or sys.executable,
            case_seconds=case_seconds or config.case_seconds,
            memory_mib=memory_mib or config.memory_mib,
            cwd=folder or (None if texts else config.folder),
            domains=config.domains,
        )
        for text in texts or config.subjects
    ]
