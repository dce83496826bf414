"""The options that several commands share.

The options of a gate are listed once, in ``GATE_OPTIONS``. A command chooses some of them with the decorator `takes`.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, get_type_hints

import typer

from harness.common.defaults import DEFAULT_CASES
from harness.common.errors import UsageError

if TYPE_CHECKING:
    from harness.config import Config
    from harness.subjects.spec import SubjectSpec


class Format(StrEnum):
    """How a result is written: as text for a person, or as JSON."""

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
Reports = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        metavar="FORMAT=FILE",
        help="Write a report: json, junit, sarif, html, markdown, annotations or github. Can be repeated.",
        show_default=False,
    ),
]
Save = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Write the smallest case of each difference into this new folder, for replay."),
]
Verbose = Annotated[
    bool, typer.Option("--verbose", help="Also list every write and every branch that did not run, with the reason.")
]


def _option(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, show_default=False, **more)


GATE_OPTIONS: Final[Mapping[str, Any]] = {
    "fields": Annotated[
        list[str] | None,
        _option(
            "--field", help="Compare this field only: no other field, and no environment variable. Can be repeated."
        ),
    ],
    "all_fields": Annotated[bool, _option("--all-fields", help="Compare every field of the record.")],
    "cases": Annotated[
        int | None,
        _option(
            "--cases",
            min=1,
            max=10**12,
            help=f"Stop after this number of cases.  [default: {DEFAULT_CASES}, without --seconds]",
        ),
    ],
    "seconds": Annotated[
        float | None,
        _option(
            "--seconds",
            min=0.1,
            help="Draw cases for this long. Loading the subjects and minimising the cases take further time.",
        ),
    ],
    "seed": Annotated[
        int | None,
        _option(
            "--seed", help="Which cases are drawn: the same seed gives the same cases on every machine.  [default: 0]"
        ),
    ],
    "jobs": Annotated[
        int | None,
        _option("--jobs", min=1, max=1024, help="Number of processes that share the work.  [default: one a core]"),
    ],
    "ledger": Annotated[
        Path | None,
        _option(
            "--ledger", metavar="FILE", help="A file of intended differences: they pass, and are counted separately."
        ),
    ],
    "answers": Annotated[
        Path | None,
        _option("--answers", metavar="FILE", help="A file of answers to probes that have no built-in answer."),
    ],
    "python": Annotated[
        str | None, _option("--python", metavar="PATH", help="The interpreter that runs the subjects.")
    ],
    "case_seconds": Annotated[
        float | None,
        _option("--case-seconds", min=0.01, max=86400, help="Seconds that one case may take.  [default: 10.0]"),
    ],
    "memory_mib": Annotated[
        int | None,
        _option(
            "--memory-mib",
            min=128,
            max=1 << 24,
            help="MiB of memory that the process of a subject may use.  [default: 2048]",
        ),
    ],
}
"""The options of a gate by their names in `harness.engine.options.GateOptions`."""

SUBJECT_OPTIONS: Final = ("answers", "python", "case_seconds", "memory_mib")
"""The options that say how a subject runs."""


def takes(*names: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return a decorator that gives a command the options ``names`` of ``GATE_OPTIONS``.

    The decorated function has a parameter ``config`` in their place. It gets the settings of the project; in their
    ``options``, what the user gave on the command line takes the place of the project's value. Typer reads a
    command's options from its signature, so the signature that Typer sees is put together here.
    """

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(command)
        def called(**given: Any) -> int:
            asked = {name: given.pop(name, None) for name in names}
            if asked.get("fields") and asked.get("all_fields"):
                raise UsageError("--field and --all-fields ask for opposite things, give one of them")
            if not math.isfinite(asked.get("seconds") or 0):
                raise UsageError("--seconds takes a finite number")
            return command(config=configured(**asked), **given)

        # ``Config`` is not imported at run time, so that a start of the program stays fast: every start reads this
        # module, but needs the settings only when a command runs. Any type stands for it here.
        hints = get_type_hints(command, localns={"Config": object}, include_extras=True)
        hints = {name: hint for name, hint in hints.items() if name != "config"}
        own = [one for one in inspect.signature(command).parameters.values() if one.name != "config"]
        kind = inspect.Parameter.KEYWORD_ONLY
        shared = [inspect.Parameter(name, kind, default=False if name == "all_fields" else None) for name in names]
        called.__annotations__ = {**hints, **{name: GATE_OPTIONS[name] for name in names}}
        called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [one.replace(kind=kind, annotation=called.__annotations__[one.name]) for one in (*own, *shared)]
        )
        return called

    return decorate


def configured(**given: Any) -> Config:
    """Return the settings that hold in the current folder, with the ``given`` options in the place of theirs.

    It also makes the machines and models of the settings known to this process.
    """
    from harness.config import load_config
    from harness.world.profiles import use_profiles

    config = load_config(Path.cwd())
    use_profiles(config.profiles)
    return dataclasses.replace(config, options=config.options.replaced(**given))


def chosen_subjects(config: Config, first: str | None, second: str | None, otherwise: str = "") -> tuple[str, ...]:
    """Return the names of the two subjects that the user gave, or none if those of the project's settings count.

    ``otherwise`` is the part of the messages that says what the user could give instead of subjects. Raises
    UsageError if the user named only one subject, or none although the settings have none either.
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


def open_specs(config: Config, names: Sequence[str]) -> list[SubjectSpec]:
    """Return the subjects called ``names``; if there are no names, the subjects of the settings.

    Paths and revisions in ``names`` start at the current folder, those in the settings at the folder of their file.
    Raises UsageError for a subject that does not exist.
    """
    folder = None if names else config.folder
    return [config.options.spec(name, folder) for name in names or config.subjects]
