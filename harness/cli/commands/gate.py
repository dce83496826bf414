"""``stackproof gate``: compares two subjects on the same cases and gives a verdict."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.frame.app import EQUIVALENT, STOPPED, app
from harness.cli.frame.options import (
    GATE_OPTIONS,
    FirstOrConfigured,
    Format,
    Reports,
    Save,
    SecondOrConfigured,
    Verbose,
    chosen_subjects,
    open_specs,
    takes,
)
from harness.common.errors import UsageError

if TYPE_CHECKING:
    from harness.config import Config
    from harness.report.reports import Wanted


@app.command(short_help="Run A and B on the same cases: do they ever differ?")
@takes(*GATE_OPTIONS)
def gate(
    config: Config,
    first: FirstOrConfigured = None,
    second: SecondOrConfigured = None,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="REV",
            help="Instead of A and B: gate the change since REV in the git repository you are in.",
        ),
    ] = None,
    head: Annotated[str, typer.Option(metavar="REV", help="With --base: the last revision of the change.")] = "HEAD",
    select: Annotated[
        str | None,
        typer.Option(
            metavar="PART",
            help="With --base: gate only this part: slice, legacy or declarative.  [default: the whole construction]",
        ),
    ] = None,
    repository: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="With --base: a folder of the repository.  [default: this folder]"),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Search only part I of N (1, 2 or 4); write a file for 'stackproof merge', not a verdict.",
        ),
    ] = None,
    format: Annotated[Format, typer.Option(help="How to write the result.")] = Format.terminal,
    verbose: Verbose = False,
    report: Reports = None,
    save: Save = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A folder of cases from earlier searches: run them first, add the useful ones, and save the search.",
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the search that is saved in --corpus.")] = False,
) -> int:
    """Run A and B, or the two sides of a change, on the same cases: do they ever differ?

    Options that you leave out have the value that [tool.stackproof] of pyproject.toml sets, or the default
    ('stackproof config show' lists them).
    """
    from harness.api import run_gate, run_part
    from harness.cli.frame.showing import show, wanted_reports
    from harness.moves.change import open_change, two_subjects
    from harness.report.reports import write_one
    from harness.report.result.document import folder_for
    from harness.report.result.shards import parse_shard

    if resume and corpus is None:
        raise UsageError("--resume goes on with the search in a corpus: give its folder with --corpus")
    if base is None and (select is not None or repository is not None or head != "HEAD"):
        raise UsageError("--head, --select and --repository go with --base REV")
    wanted = wanted_reports(report, format)
    part = parse_shard(shard) if shard is not None else None
    if part is not None:
        _check_shard(wanted, save, corpus)
    # A CI job that is cancelled gets SIGTERM. It ends the search like a Ctrl-C, so that what was found is reported.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with folder_for(save):
        if base is None:
            names = chosen_subjects(config, first, second, ", or give --base REV for the change in a git repository")
            change = two_subjects(*open_specs(config, names))
        elif first is not None:
            raise UsageError(f"gate takes two subjects or --base, not both: leave {first!r} off")
        else:
            folder = repository or Path.cwd()
            change = open_change(base, head, select, folder, lambda name: config.options.spec(name, repository))
        if part is not None:
            data, interrupted = run_part(change, config.options, part)
            write_one(wanted[0], data)
            return STOPPED if interrupted else EQUIVALENT
        return show(
            lambda listener: run_gate(change, config.options, listener, corpus=corpus, resume=resume),
            wanted,
            save,
            verbose=verbose,
        )


def _check_shard(wanted: Sequence[Wanted], save: Path | None, corpus: Path | None) -> None:
    """Raise UsageError for options that a shard cannot have.

    A shard has no verdict yet, so it can only write its own file. The shards of a campaign share no corpus, because
    the cases that one of them keeps must not change the search of another.
    """
    if save is not None or [one.format for one in wanted] != ["json"]:
        raise UsageError(
            "--shard goes with --format json or --report json=FILE alone: it is stackproof merge that reports"
        )
    if corpus is not None:
        raise UsageError("--shard and --corpus: the shards of a campaign share no corpus, leave one of the two out")
