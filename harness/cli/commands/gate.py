"""``stackproof gate``: two subjects on the same cases, and a verdict."""

from __future__ import annotations

import math
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.app import EQUIVALENT, STOPPED, app
from harness.cli.options import (
    DEFAULT_CASES,
    AnswersFile,
    CaseSeconds,
    FirstOrConfigured,
    Format,
    Interpreter,
    Jobs,
    MemoryMib,
    Reports,
    Save,
    SecondOrConfigured,
    chosen_subjects,
    configured,
    cores,
    open_specs,
)
from harness.common.errors import UsageError

if TYPE_CHECKING:
    from harness.engine.result.events import Event, Finished, Listener
    from harness.subjects.spec import SubjectSpec


@app.command(short_help="Run A and B on the same cases: do they ever differ?")
def gate(
    first: FirstOrConfigured = None,
    second: SecondOrConfigured = None,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="REV", help="Gate a change, in the git repository you stand in: what it is made on top of."
        ),
    ] = None,
    head: Annotated[str, typer.Option(metavar="REV", help="With --base: the change's last revision.")] = "HEAD",
    select: Annotated[
        str | None,
        typer.Option(
            metavar="PART", help="With --base: slice, legacy or declarative, instead of the whole construction."
        ),
    ] = None,
    repository: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --base: a folder of the repository, instead of this one.")
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(help="Compare this field alone: no others, no environment; may be given again."),
    ] = None,
    all_fields: Annotated[bool, typer.Option("--all-fields", help="Compare every field of the record.")] = False,
    cases: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10**12,
            help=f"Number of cases.  [default: {DEFAULT_CASES}, without --seconds]",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.1, help="Make cases for this long; loading and minimising come on top.", show_default=False
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Which cases: the same seed gives the same ones everywhere.  [default: 0]", show_default=False
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="Search one of N parts (1, 2 or 4) and write what stackproof merge takes."),
    ] = None,
    jobs: Jobs = None,
    ledger: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Differences that are meant; they are counted apart and pass.")
    ] = None,
    format: Annotated[Format, typer.Option(help="How to write the result.")] = Format.terminal,
    save: Save = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Run the cases kept there first, keep what is worth it, and save the search."
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the search that --corpus holds.")] = False,
    report: Reports = None,
    answers: AnswersFile = None,
    python: Interpreter = None,
    case_seconds: CaseSeconds = None,
    memory_mib: MemoryMib = None,
) -> int:
    """Run A and B, or what a change starts from and ends with, on the same cases: do they ever differ?

    What is not said here is as [tool.stackproof] of pyproject.toml says ('stackproof config show').
    """
    from harness.cli.showing import show
    from harness.engine.campaign import Budget, Request, run_campaign, run_shard
    from harness.engine.ledger.entries import Ledger, load_ledger
    from harness.engine.search.plan import Shard
    from harness.engine.store import Store
    from harness.moves.change import Change, open_change
    from harness.report.reports import parse_reports, write_one
    from harness.report.result.document import folder_for
    from harness.report.result.shards import parse_shard, shard_document

    if field and all_fields:
        raise UsageError("--field and --all-fields ask for opposite things, give one of them")
    if seconds is not None and not math.isfinite(seconds):
        raise UsageError("--seconds takes a finite number")
    if resume and corpus is None:
        raise UsageError("--resume goes on with the search in a corpus: give its folder with --corpus")
    config = configured()
    if cases is None and seconds is None:
        cases, seconds = config.cases, config.seconds
    if not field and not all_fields:
        field, all_fields = list(config.fields), config.all_fields
    ledger = ledger or config.ledger
    if base is None and (select is not None or repository is not None or head != "HEAD"):
        raise UsageError("--head, --select and --repository go with --base REV")

    def opened(*texts: str) -> list[SubjectSpec]:
        return open_specs(
            config,
            texts,
            answers=answers,
            python=python,
            case_seconds=case_seconds,
            memory_mib=memory_mib,
            folder=repository,
        )

    # The one is short for the other.
    wanted = parse_reports([*(report or ()), *(["json=-"] if format is Format.json else [])])
    part = parse_shard(shard) if shard is not None else None
    if part is not None and (save is not None or [one.format for one in wanted] != ["json"]):
        raise UsageError(
            "--shard goes with --format json or --report json=FILE alone: it is stackproof merge that reports"
        )
    if part is not None and corpus is not None:
        raise UsageError("--shard and --corpus: the shards of a campaign share no corpus, leave one of the two out")
    # A CI job that is cancelled gets this signal: it ends the search as a Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with folder_for(save):
        if base is None:
            names = chosen_subjects(config, first, second, ", or give --base REV for the change in a git repository")
            one, other = opened(*names)
            change = Change((one.label, other.label), (one, other), None, ())
        elif first is not None:
            raise UsageError(f"gate takes two subjects or --base, not both: leave {first!r} off")
        else:
            names = ()
            change = open_change(base, head, select, repository or Path.cwd(), lambda text: opened(text)[0])
        meant = load_ledger(ledger, change.aliases) if ledger is not None else Ledger()
        # After all that can be wrong in words: it makes the folder.
        store = None if corpus is None else Store(corpus, resume=resume)
        request = Request(
            first=change.specs[0],
            second=change.specs[1],
            fields=tuple(field or ()),
            all_fields=all_fields,
            budget=Budget(cases=cases, seconds=seconds),
            ledger=meant,
            seed=config.seed if seed is None else seed,
            jobs=jobs or config.jobs or cores(),
            corpus=() if store is None else store.cases,
            moved=change.moved,
            notes=change.notes,
            shard=part or Shard(),
        )
        if part is not None:
            gathered = run_shard(request, lambda event: None)
            write_one(wanted[0], shard_document(request, gathered))
            return STOPPED if gathered.interrupted else EQUIVALENT

        def run(listener: Listener) -> Finished:
            return run_campaign(request, _keeping(corpus, listener), store)

        return show(run, wanted, save, names or change.names)


def _keeping(corpus: Path | None, listener: Listener) -> Listener:
    """Return a listener that also keeps the result beside the corpus, as it is saved: what a killed run leaves."""
    if corpus is None:
        return listener
    from harness.common.writing import write_atomically
    from harness.engine.result.events import Finished, Saved
    from harness.report.result.document import document

    path = corpus / "result.json"

    def keeping(event: Event) -> None:
        if isinstance(event, Saved):
            write_atomically(path, document(event.result))
        elif isinstance(event, Finished):
            write_atomically(path, document(event))
        listener(event)

    return keeping
