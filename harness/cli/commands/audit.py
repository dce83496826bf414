"""``stackproof audit``: seeds faults into a package and shows those that its gate does not catch."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.frame.app import DIFFERENT, EQUIVALENT, app
from harness.cli.frame.options import FirstSubject, Format
from harness.common.defaults import DEFAULT_CASES, cores


@app.command(short_help="Seed faults into B: which of them does the gate not catch?")
def audit(
    first: FirstSubject,
    second: Annotated[str, typer.Argument(metavar="B", help="The package that gets the faults, such as legacy.")],
    mutants: Annotated[
        int | None, typer.Option(min=1, help="Number of faults, drawn at random.  [default: all]", show_default=False)
    ] = None,
    roles: Annotated[
        str | None,
        typer.Option(
            help="Kinds of faults: value, guard, write, order, table, other, separated by commas.  [default: all]",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Only faults in this file or folder of the package. Can be repeated."),
    ] = None,
    even: Annotated[
        bool, typer.Option("--even", help="Draw evenly: functions and kinds of faults take turns.")
    ] = False,
    equivalents: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file of faults that change no result, each with a reason."),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="No faults in this function or class. Can be repeated."),
    ] = None,
    cases: Annotated[int, typer.Option(min=1, max=10**6, help="Number of cases of the gate.")] = DEFAULT_CASES,
    seed: Annotated[int, typer.Option(help="Which cases and which faults are drawn.")] = 0,
    ledger: Annotated[Path | None, typer.Option(metavar="FILE", help="A file of intended differences.")] = None,
    long: Annotated[int, typer.Option(min=0, help="Number of further cases to try on missed faults.")] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1024,
            help="Number of processes.  [default: one a core]",
            show_default=False,
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file that keeps the results, so that a stopped audit can be continued."),
    ] = None,
    format: Annotated[Format, typer.Option(help="How to write the result.")] = Format.terminal,
) -> int:
    """Seed faults into B's source, one at a time, and show which of them the gate of A and B does not catch."""
    from harness.audit.mutants.equivalents import Equivalents, load_equivalents
    from harness.audit.reading.mutant import checked_roles
    from harness.audit.run.audit import Audit
    from harness.audit.run.results import Results
    from harness.audit.run.trials import TrialMaker
    from harness.engine.options import GateOptions
    from harness.report.terminal.audited import Audited, audit_document, say_audit

    options = GateOptions(cases=cases, seed=seed, ledger=ledger)
    request = options.request(options.spec(first), options.spec(second))
    kept, processes = Results(results), jobs or cores()
    listed = load_equivalents(equivalents) if equivalents is not None else Equivalents()
    with TrialMaker(request) as trials:
        listed.check(trials.package)
        files = trials.package.files_under(only) if only else None
        every = trials.package.mutants(roles=None if roles is None else checked_roles(roles), files=files)
        every = trials.package.outside(every, without or ())
        sample = every if mutants is None else trials.package.sample(every, mutants, seed, even=even)
        seeded = Audit(trials.package, jobs=processes, results=kept)
        try:
            judged = seeded.judge(sample, trials.rounds(seed, cases))
            survivors = [result.mutant for result in judged if result.catch is None]
            longer = seeded.judge(survivors, trials.further(seed + 1, long))
        except KeyboardInterrupt:
            go_on = "the same command goes on" if results is not None else "with --results FILE they would be kept"
            typer.echo(f"stackproof: stopped by Ctrl-C after {kept.added} results: {go_on}", err=True)
            raise
    audited = Audited(trials.package, judged, longer, len(every), listed)
    if format is Format.json:
        sys.stdout.buffer.write(audit_document(audited))
        sys.stdout.buffer.flush()
    else:
        say_audit(audited, typer.echo)
    return EQUIVALENT if audited.passed else DIFFERENT
