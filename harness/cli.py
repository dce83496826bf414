"""The command line. Thin: it turns words into requests, and results into an exit status.

0 equivalent (or done), 1 different, 2 wrong usage or a broken set-up, 3 inconclusive. A crash of ours is 70.
"""

from __future__ import annotations

import errno
import importlib.metadata
import io
import math
import os
import shlex
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.errors import UsageError

EQUIVALENT, DIFFERENT, WRONG_USAGE, INCONCLUSIVE, OUR_BUG, STOPPED = 0, 1, 2, 3, 70, 130
_STATUS = {"equivalent": EQUIVALENT, "different": DIFFERENT, "inconclusive": INCONCLUSIVE}
_FULL_OR_FORBIDDEN = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)
_DEFAULT_CASES = 20000

# Typer has click inside since 0.25 and beside it before; either way this is the base of its errors.
_CommandLineError: type[Any] = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Land a stacked refactor with proof: two configuration resolutions, run side by side on the same cases.",
)


class Format(StrEnum):
    """How a result is written."""

    terminal = "terminal"
    json = "json"


_SUBJECTS = "legacy, declarative, sglang==X, git:REV or dir:PATH; #slice or #legacy behind it"

FirstSubject = Annotated[str, typer.Argument(metavar="A", help=f"The original: {_SUBJECTS}.")]
SecondSubject = Annotated[str, typer.Argument(metavar="B", help="Its successor, named in the same way.")]
AnswersFile = Annotated[
    Path | None, typer.Option("--answers", metavar="FILE", help="Answers for probes that the built-in ones miss.")
]
Interpreter = Annotated[
    str, typer.Option("--python", metavar="PATH", help="The interpreter that runs the trees.", show_default=False)
]
CaseSeconds = Annotated[float, typer.Option(min=0.01, max=86400, help="Seconds one case may take.")]
MemoryMib = Annotated[int, typer.Option(min=128, max=1 << 24, help="MiB of memory a tree's process may take.")]


@app.command()
def gate(
    first: FirstSubject,
    second: SecondSubject,
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
            help=f"Number of cases.  [default: {_DEFAULT_CASES}, without --seconds]",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.1, help="Make cases for this long; loading and minimising come on top.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Which cases: the same seed gives the same ones everywhere.")] = 0,
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
    answers: AnswersFile = None,
    python: Interpreter = sys.executable,
    case_seconds: CaseSeconds = 10.0,
    memory_mib: MemoryMib = 2048,
) -> int:
    """Run A and B on the same cases and say whether they ever differ."""
    from rich.console import Console

    from harness.engine.campaign import Budget, Request, run_campaign
    from harness.engine.ledger import Ledger, load_ledger
    from harness.report.document import document, folder_for, save_result
    from harness.report.terminal import TerminalView
    from harness.subjects.open import open_spec

    if field and all_fields:
        raise UsageError("--field and --all-fields ask for opposite things, give one of them")
    if seconds is not None and not math.isfinite(seconds):
        raise UsageError("--seconds takes a finite number")
    if cases is None and seconds is None:
        cases = _DEFAULT_CASES
    with folder_for(save):
        specs = [
            open_spec(text, answers=answers, python=python, case_seconds=case_seconds, memory_mib=memory_mib)
            for text in (first, second)
        ]
        request = Request(
            first=specs[0],
            second=specs[1],
            fields=tuple(field or ()),
            all_fields=all_fields,
            budget=Budget(cases=cases, seconds=seconds),
            ledger=load_ledger(ledger) if ledger is not None else Ledger(),
            seed=seed,
            jobs=jobs or _cores(),
        )
        if format is Format.json:
            result = run_campaign(request, lambda event: None)
            sys.stdout.buffer.write(document(result))
            sys.stdout.buffer.flush()
        else:
            with TerminalView(Console(highlight=False), Console(stderr=True, highlight=False)) as view:
                result = run_campaign(request, view)
        if save is not None:
            files = save_result(result, save)
            if format is Format.terminal and files:
                again = shlex.join(["stackproof", "replay", str(files[0]), first, second])
                typer.echo(f"saved    {len(files)} witnesses and result.json in {save}; run one again with: {again}")
    return STOPPED if result.interrupted and result.verdict == "equivalent" else _STATUS[result.verdict]


@app.command()
def replay(
    case_file: Annotated[Path, typer.Argument(metavar="CASE", help="A file of cases, such as gate --save writes.")],
    first: FirstSubject,
    second: SecondSubject,
    answers: AnswersFile = None,
    python: Interpreter = sys.executable,
    case_seconds: CaseSeconds = 10.0,
    memory_mib: MemoryMib = 2048,
) -> int:
    """Run the cases of a file on A and B and show what differs in each."""
    from harness.report.replay import replay_cases
    from harness.subjects.open import open_spec

    specs = [
        open_spec(text, answers=answers, python=python, case_seconds=case_seconds, memory_mib=memory_mib)
        for text in (first, second)
    ]
    return _STATUS[replay_cases(case_file, specs[0], specs[1], typer.echo)]


@app.command()
def resolve(
    launch: Annotated[
        list[str] | None, typer.Argument(metavar="-- FLAGS", help="Launch flags, or a whole launch command.")
    ] = None,
    subject: Annotated[
        list[str],
        typer.Option(metavar="S", help=f"What resolves: {_SUBJECTS}. Given again, both beside one another."),
    ] = ...,  # type: ignore[assignment]
    hardware: Annotated[str, typer.Option(help="The machine: a profile's name or a JSON object.")] = "h100",
    model: Annotated[str, typer.Option(help="The model: a profile's name or a JSON object.")] = "llama-3.1-8b",
    cases: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Resolve the cases of this file instead.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the outcomes there, one a line.")] = None,
    answers: AnswersFile = None,
    python: Interpreter = sys.executable,
    case_seconds: CaseSeconds = 10.0,
    memory_mib: MemoryMib = 2048,
) -> int:
    """Show what one subject resolves a launch, or the cases of a file, to."""
    from harness.report.resolution import resolve_file, resolve_launch
    from harness.subjects.open import open_spec

    if cases is not None and launch:
        raise UsageError("resolve takes launch flags after '--' or --cases FILE, not both")
    if cases is not None and out is not None and out.exists() and cases.exists() and out.samefile(cases):
        raise UsageError(f"--out {out}: this is the file of the cases, name another")
    if cases is None and out is not None:
        raise UsageError("--out goes with --cases: the outcome of a launch is shown on standard output")
    if cases is not None and len(subject) > 1:
        raise UsageError("--cases goes with one --subject: the outcomes of each are a file of their own")
    specs = [
        open_spec(text, answers=answers, python=python, case_seconds=case_seconds, memory_mib=memory_mib)
        for text in subject
    ]
    if cases is not None:
        answered = resolve_file(specs[0], cases, out)
    else:
        answered = resolve_launch(specs, hardware, model, launch or [], typer.echo)
    return EQUIVALENT if answered else INCONCLUSIVE


@app.command()
def explain(
    field: Annotated[str, typer.Argument(metavar="FIELD", help="A resolved field, such as page_size.")],
    subject: Annotated[
        list[str] | None,
        typer.Option(
            metavar="S",
            help="Whose writers; may be given again.  [default: legacy and declarative]",
            show_default=False,
        ),
    ] = None,
    answers: AnswersFile = None,
    python: Interpreter = sys.executable,
) -> int:
    """List the places that write a field, in the order in which the resolution comes to them."""
    from harness.report.explanation import explain_field
    from harness.subjects.open import open_spec

    specs = [
        open_spec(text, answers=answers, python=python, case_seconds=10.0, memory_mib=2048)
        for text in subject or ["legacy", "declarative"]
    ]
    explain_field(field, specs, typer.echo)
    return EQUIVALENT


@app.command()
def hazards(
    subject: Annotated[str, typer.Option(metavar="S", help="A package whose steps declare.")] = "declarative",
    cases: Annotated[int, typer.Option(min=1, max=10**5, help="Number of cases.")] = 2000,
    seed: Annotated[int, typer.Option(help="Which cases.")] = 0,
    field: Annotated[
        str | None, typer.Option(help="Only what orders the steps for this field.", show_default=False)
    ] = None,
    format: Annotated[Format, typer.Option(help="How to write the result.")] = Format.terminal,
) -> int:
    """Say which passes have an order, by what each writes and reads, and exchange each pair to see if it matters."""
    from harness.engine.hazards import Asked, find_hazards
    from harness.report.hazards import document, say_hazards
    from harness.subjects.open import open_spec

    spec = open_spec(subject, answers=None, python=sys.executable, case_seconds=10.0, memory_mib=2048)
    found = find_hazards(Asked(replace(spec, record=False), cases, seed, field))
    if format is Format.json:
        sys.stdout.buffer.write(document(found))
        sys.stdout.buffer.flush()
    else:
        say_hazards(found, typer.echo)
    return EQUIVALENT


@app.command()
def audit(
    first: FirstSubject,
    second: Annotated[str, typer.Argument(metavar="B", help="The package that gets the faults: legacy, ...")],
    mutants: Annotated[
        int | None, typer.Option(min=1, help="How many, drawn at random.  [default: all]", show_default=False)
    ] = None,
    roles: Annotated[
        str,
        typer.Option(help="What the faults touch: value, guard, write, order, table, other, with commas between."),
    ] = "value,guard,write,order,table",
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Only faults in this file or folder of the package; may be given again."),
    ] = None,
    cases: Annotated[int, typer.Option(min=1, max=10**6, help="The gate's number of cases.")] = _DEFAULT_CASES,
    seed: Annotated[int, typer.Option(help="Which cases, and which mutants.")] = 0,
    ledger: Annotated[Path | None, typer.Option(metavar="FILE", help="Differences that are meant.")] = None,
    long: Annotated[int, typer.Option(min=0, help="Further cases for the mutants that were not caught.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Processes.  [default: one a core]", show_default=False)
    ] = None,
    results: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep results there, and go on from those that are there.")
    ] = None,
) -> int:
    """Seed faults into B's source, one at a time, and show which of them the gate of A and B does not catch."""
    from harness.audit.audit import run_audit, search_longer
    from harness.audit.gate import Gate
    from harness.audit.mutant import checked_roles
    from harness.audit.results import Results
    from harness.engine.campaign import Budget, Request
    from harness.engine.ledger import Ledger, load_ledger
    from harness.report.audited import say_audit
    from harness.subjects.open import open_spec

    specs = [
        open_spec(text, answers=None, python=sys.executable, case_seconds=10.0, memory_mib=2048)
        for text in (first, second)
    ]
    meant = load_ledger(ledger) if ledger is not None else Ledger()
    request = Request(specs[0], specs[1], budget=Budget(cases=cases), ledger=meant, seed=seed)
    kept, processes = Results(results), jobs or _cores()
    with Gate(request) as gate:
        files = gate.package.files_under(only) if only else None
        every = gate.package.mutants(roles=checked_roles(roles), files=files)
        sample = every if mutants is None else gate.package.sample(every, mutants, seed)
        judged = run_audit(gate.package, sample, gate.trial(seed, cases), jobs=processes, results=kept)
        survivors = [result.mutant for result in judged if result.catch is None]
        further = gate.trials(seed + 1, long)
        longer = search_longer(gate.package, survivors, further, jobs=processes, results=kept)
    say_audit(gate.package, judged, longer, len(every), typer.echo)
    return DIFFERENT if survivors else EQUIVALENT


@app.command()
def profiles() -> int:
    """List the machines and models that have a name."""
    from harness.report.words import machine_words
    from harness.world.profiles import hardware_names, hardware_profile, model_names, model_profile

    typer.echo("hardware")
    for name in hardware_names():
        typer.echo(f"  {name:24}{machine_words(hardware_profile(name), named=False)}")
    typer.echo("models")
    for name in model_names():
        typer.echo(f"  {name:24}{'/'.join(model_profile(name).architectures)}")
    return EQUIVALENT


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=lambda asked: _show_version(asked), is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    """Options before a command."""


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"stackproof {importlib.metadata.version('stackproof')}")
        raise typer.Exit


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def main() -> None:
    """Run the command line and end the process with its status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a character gets its escape instead.
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_guarded(lambda: app(standalone_mode=False)))


def _guarded(run: Callable[[], object]) -> int:
    """Return the status of ``run``; errors become one sentence, ours say so."""
    try:
        status = run()
    except UsageError as error:
        print(f"stackproof: {error}", file=sys.stderr)
        if error.example:
            print(f"\n{error.example}", file=sys.stderr)
        return WRONG_USAGE
    except _CommandLineError as error:
        message = " ".join(error.format_message().split())
        if "No such option" in message and "resolve" in sys.argv[1:2]:
            message += "; flags of the launch go behind '--'"
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message(), file=sys.stderr)
            return WRONG_USAGE
        print(f"stackproof: {message} (see stackproof --help)", file=sys.stderr)
        return WRONG_USAGE
    except (KeyboardInterrupt, typer.Abort):
        return STOPPED
    except BrokenPipeError:
        # Whoever read our output has enough of it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return STOPPED
    except OSError as error:
        if error.errno not in _FULL_OR_FORBIDDEN:
            return _our_bug()
        print(f"stackproof: the system does not let it write: {error}", file=sys.stderr)
        return WRONG_USAGE
    except Exception:
        return _our_bug()
    return status if isinstance(status, int) else EQUIVALENT


def _our_bug() -> int:
    traceback.print_exc()
    print("stackproof: this is a bug in stackproof; please report the lines above", file=sys.stderr)
    return OUR_BUG


if __name__ == "__main__":
    main()
