"""``stackproof gate``: two subjects on the same cases, and a verdict."""

from __future__ import annotations

import math
import shlex
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.app import STATUS, STOPPED, app
from harness.cli.options import (
    DEFAULT_CASES,
    AnswersFile,
    CaseSeconds,
    FirstOrConfigured,
    Format,
    Interpreter,
    MemoryMib,
    Reports,
    SecondOrConfigured,
    chosen_subjects,
    configured,
    cores,
    open_specs,
)
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.engine.events import Event, Listener


@app.command()
def gate(
    first: FirstOrConfigured = None,
    second: SecondOrConfigured = None,
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
    jobs: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="Processes to spread over.  [default: one a core]", show_default=False),
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Differences that are meant; they are counted apart and pass.")
    ] = None,
    format: Annotated[Format, typer.Option(help="How to write the result.")] = Format.terminal,
    save: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write each witness there as a case file for replay.")
    ] = None,
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
    """Run A and B on the same cases and say whether they ever differ.

    What is not said here is as [tool.stackproof] of pyproject.toml says ('stackproof config show').
    """
    from rich.console import Console

    from harness.engine.campaign import Budget, Request, run_campaign
    from harness.engine.ledger import Ledger, load_ledger
    from harness.engine.store import Store
    from harness.report.document import folder_for, save_result
    from harness.report.reports import parse_reports, write_reports
    from harness.report.terminal import TerminalView

    if field and all_fields:
        raise UsageError("--field and --all-fields ask for opposite things, give one of them")
    if seconds is not None and not math.isfinite(seconds):
        raise UsageError("--seconds takes a finite number")
    if resume and corpus is None:
        raise UsageError("--resume goes on with the search in a corpus: give its folder with --corpus")
    config = configured()
    names = chosen_subjects(config, first, second)
    if cases is None and seconds is None:
        cases, seconds = config.cases, config.seconds
    if not field and not all_fields:
        field, all_fields = list(config.fields), config.all_fields
    ledger = ledger or config.ledger
    # The one is short for the other.
    wanted = parse_reports([*(report or ()), *(["json=-"] if format is Format.json else [])])
    silent = any(one.shown for one in wanted)
    # A CI job that is cancelled gets this signal: it ends the search as a Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with folder_for(save):
        store = None if corpus is None else Store(corpus, resume=resume)
        specs = open_specs(
            config, names, answers=answers, python=python, case_seconds=case_seconds, memory_mib=memory_mib
        )
        request = Request(
            first=specs[0],
            second=specs[1],
            fields=tuple(field or ()),
            all_fields=all_fields,
            budget=Budget(cases=cases, seconds=seconds),
            ledger=load_ledger(ledger) if ledger is not None else Ledger(),
            seed=config.seed if seed is None else seed,
            jobs=jobs or config.jobs or cores(),
            corpus=() if store is None else store.cases,
        )
        if silent:
            result = run_campaign(request, _keeping(corpus, lambda event: None), store)
        else:
            with TerminalView(Console(highlight=False), Console(stderr=True, highlight=False)) as view:
                result = run_campaign(request, _keeping(corpus, view), store)
        if save is not None:
            files = save_result(result, save)
            if files and not silent:
                again = shlex.join(["stackproof", "replay", str(files[0]), *names])
                typer.echo(f"saved    {len(files)} witnesses and result.json in {save}; run one again with: {again}")
        write_reports(result, wanted)
    return STOPPED if result.interrupted and result.verdict == "equivalent" else STATUS[result.verdict]


def _keeping(corpus: Path | None, listener: Listener) -> Listener:
    """Return a listener that also keeps the result beside the corpus, as it is saved: what a killed run leaves."""
    if corpus is None:
        return listener
    from harness.engine.events import Finished, Saved
    from harness.report.document import document
    from harness.world.files import write_atomically

    path = corpus / "result.json"

    def keeping(event: Event) -> None:
        if isinstance(event, Saved):
            write_atomically(path, document(event.result))
        elif isinstance(event, Finished):
            write_atomically(path, document(event))
        listener(event)

    return keeping
