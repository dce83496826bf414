"""The public Python interface: `gate` runs a gate, and `compared_fields` says what a gate would compare.

```python
from harness.api import gate

report = gate("git:main#python:server.settings:resolve", "python:server.settings:resolve", cases=5000)
assert report.verdict == "equivalent", report.text()
```
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.common.errors import UsageError
from harness.common.writing import write_atomically
from harness.engine.campaign import Request, conclude_shards, run_campaign, run_given, run_shard
from harness.engine.options import GateOptions
from harness.engine.result.events import Event, Finished, Listener, Saved
from harness.engine.search.pair import Pair
from harness.engine.search.plan import Shard
from harness.engine.search.planning import make_plan
from harness.engine.store import Store
from harness.moves.change import SubjectPair, two_subjects
from harness.report.report import Difference, Judgement, Report
from harness.report.result.document import document
from harness.report.result.shards import open_again, read_shards, shard_document
from harness.subjects.spec import SubjectSpec
from harness.world.case import Case

__all__ = ["Difference", "Judgement", "Report", "Subject", "UsageError", "compared_fields", "gate"]

Subject = str | Callable[..., object]
"""A subject as the command line names it (``legacy``, ``dir:PATH``, ``python:MODULE:CALLABLE``, ...), or the function
itself. Another process imports and runs the function, so it must be importable.
"""


def gate(
    first: Subject,
    second: Subject,
    *,
    fields: Sequence[str] = (),
    all_fields: bool = False,
    cases: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    jobs: int | None = None,
    ledger: Path | None = None,
    answers: Path | None = None,
    python: str = sys.executable,
    case_seconds: float = 10.0,
    memory_mib: int = 2048,
    domains: Mapping[str, Sequence[Any]] | None = None,
    folder: Path | None = None,
    listener: Listener | None = None,
) -> Report:
    """Run two subjects on the same cases and return what was found.

    The arguments are the options of ``stackproof gate``:

    - ``fields``: compare these fields and nothing else;
    - ``all_fields``: compare every field of the record;
    - ``cases``, ``seconds``: stop the search after this number of cases or this time, whichever comes first; if
      neither is given, after 20,000 cases;
    - ``seed``: which cases are made; the same seed gives the same cases;
    - ``jobs``: the number of processes that share the work; None means one for each core;
    - ``ledger``: a file of intended differences;
    - ``answers``: a file of answers to probes that have no built-in answer;
    - ``python``: the interpreter that runs the subjects;
    - ``case_seconds``, ``memory_mib``: the time that a case, and the memory that a subject's process, may take;
    - ``domains``: for a callable, the values that its arguments may have, by the argument's name.

    If a subject is given as text, relative paths and revisions in it start at ``folder``, or at the current folder if
    that is None. ``listener`` is called with each event of `harness.engine.result.events` as it happens.

    Raises UsageError, with one sentence, if a subject cannot be loaded, or if a file or a field does not exist.

    Examples:
        >>> from pathlib import Path
        >>> tutorial = Path("docs/tutorial")
        >>> original, successor = "python:server.settings:resolve", "python:server.declared:resolve"
        >>> report = gate(original, successor, cases=500, jobs=1, folder=tutorial)
        >>> report.verdict
        'different'
        >>> report.of_field("port").verdict
        'equivalent'
        >>> host = report.of_field("host").differences[0]
        >>> host.first, host.second, host.witness.args
        ('', '127.0.0.1', {'host': ''})
        >>> print(host.replay.partition(" -- ")[2])
        python:server.settings:resolve --host ''
        >>> gate(original, original, cases=500, jobs=1, folder=tutorial).verdict
        'equivalent'
    """
    options = GateOptions(
        fields=tuple(fields),
        all_fields=all_fields,
        cases=cases,
        seconds=seconds,
        seed=seed,
        jobs=jobs,
        ledger=ledger,
        answers=answers,
        python=python,
        case_seconds=case_seconds,
        memory_mib=memory_mib,
        domains=domains or {},
    )
    return run_gate(open_subjects(options, first, second, folder), options, listener)


def compared_fields(
    first: Subject,
    second: Subject,
    *,
    fields: Sequence[str] = (),
    all_fields: bool = False,
    answers: Path | None = None,
    python: str = sys.executable,
    domains: Mapping[str, Sequence[Any]] | None = None,
    folder: Path | None = None,
) -> tuple[str, ...]:
    """Return the fields that a gate with these arguments compares, without running a case.

    Raises UsageError as `gate` does.

    Examples:
        >>> from pathlib import Path
        >>> settings = "python:server.settings:resolve"
        >>> compared_fields(settings, settings, folder=Path("docs/tutorial"))[:3]
        ('mode', 'host', 'port')
    """
    options = GateOptions(
        fields=tuple(fields), all_fields=all_fields, answers=answers, python=python, domains=domains or {}
    )
    return fields_of(open_subjects(options, first, second, folder), options)


def fields_of(change: SubjectPair, options: GateOptions) -> tuple[str, ...]:
    """Return the fields that a gate of two opened subjects would compare. Raises UsageError for an unknown field."""
    request = _request(change, options)
    with Pair(request.first, request.second) as pair:
        return make_plan(request, pair).started.compared


def run_gate(
    change: SubjectPair,
    options: GateOptions,
    listener: Listener | None = None,
    *,
    corpus: Path | None = None,
    resume: bool = False,
) -> Report:
    """Run a gate of two opened subjects (`harness.moves.change`) and return what was found.

    ``corpus`` is a folder of cases from earlier runs. These run first; afterwards the cases worth keeping, and the
    result, are saved there. ``resume`` continues the search that was saved there. Raises UsageError as `gate` does,
    and if the corpus cannot be read.
    """
    listener = listener or _ignore
    request = _request(change, options)
    if corpus is None:
        return Report(run_campaign(request, listener))
    # This makes the folder, so whatever else may raise a UsageError is done before.
    store = Store(corpus, resume=resume)
    request = dataclasses.replace(request, corpus=store.cases)
    return Report(run_campaign(request, _keeping(corpus, listener), store))


def run_part(change: SubjectPair, options: GateOptions, shard: Shard) -> tuple[bytes, bool]:
    """Run one shard of a gate's search.

    Return the content of the file for `merge_parts`, and whether a Ctrl-C ended the search early.
    """
    request = dataclasses.replace(_request(change, options), shard=shard)
    gathered = run_shard(request, _ignore)
    return shard_document(request, gathered), gathered.interrupted


def merge_parts(
    files: Sequence[Path], options: GateOptions, folder: Path, listener: Listener | None = None
) -> Report:
    """Put the shards in ``files`` together and return the report of the whole gate.

    The subjects are opened again; relative paths and revisions in their names start at ``folder``. Of ``options``,
    only the interpreter and the number of processes count; the shards determine the rest. Raises UsageError unless
    the files are all the shards of one gate, and its subjects are unchanged.
    """
    asked, gathered = read_shards(files)
    return Report(conclude_shards(open_again(asked, options, folder), gathered, listener or _ignore))


def replay(change: SubjectPair, cases: Sequence[Case]) -> Report:
    """Run the given cases on two opened subjects and return what was found. No witness is minimised."""
    return Report(run_given(_request(change, GateOptions()), cases))


def _ignore(event: Event) -> None:
    """Ignore the event: the listener of a caller that gives none."""


def _request(change: SubjectPair, options: GateOptions) -> Request:
    return options.request(*change.specs, aliases=change.aliases, moved=change.moved, notes=change.notes)


def _keeping(corpus: Path, listener: Listener) -> Listener:
    """Return a listener that passes events on, and writes each saved result into the folder ``corpus``.

    So even a run that is killed leaves a result.
    """

    def keeping(event: Event) -> None:
        if isinstance(event, Saved | Finished):
            result = event.result if isinstance(event, Saved) else event
            write_atomically(corpus / "result.json", document(result))
        listener(event)

    return keeping


def open_subjects(options: GateOptions, first: Subject, second: Subject, folder: Path | None) -> SubjectPair:
    """Return two subjects, opened with ``options``.

    If a subject is given as text, relative paths and revisions in it start at ``folder``. Raises UsageError for a
    subject that does not exist.
    """

    def opened(subject: Subject) -> SubjectSpec:
        name, start = (subject, folder) if isinstance(subject, str) else _name_of(subject)
        return options.spec(name, None if start is None else start.absolute())

    return two_subjects(opened(first), opened(second))


def _name_of(function: Callable[..., object]) -> tuple[str, Path]:
    """Return a function as the name of a subject, and the folder that holds its outermost package."""
    module = inspect.getmodule(function)
    name = getattr(function, "__qualname__", "")
    file = getattr(module, "__file__", None)
    if module is None or file is None or module.__name__ == "__main__" or not name or "<" in name:
        raise UsageError(
            f"{function!r} cannot be imported by another process: give a function or a class at the top of a module,"
            " or its name as 'python:MODULE:CALLABLE'"
        )
    path = Path(file).absolute()
    inner = path.parent if path.name == "__init__.py" else path
    return f"python:{module.__name__}:{name}", inner.parents[module.__name__.count(".")]
