"""The public Python interface: a gate as a function.

```python
from harness.api import gate

report = gate("git:main#python:server.settings:resolve", "python:server.settings:resolve", cases=5000)
assert report.verdict == "equivalent", report.text()
```
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import io
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from harness.common.errors import UsageError
from harness.common.writing import write_atomically
from harness.engine.campaign import Request, conclude_shards, run_campaign, run_given, run_shard
from harness.engine.difference.buckets import Bucket
from harness.engine.difference.compare import Difference as Parted
from harness.engine.result.events import Event, Finished, Listener, Saved, Verdict
from harness.engine.search.pair import Pair
from harness.engine.search.plan import Shard
from harness.engine.search.planning import make_plan
from harness.engine.store import Store
from harness.moves.change import Change, two_subjects
from harness.options import GateOptions
from harness.report.result.document import document
from harness.report.result.shards import open_again, read_shards, shard_document
from harness.report.terminal.gate import print_result
from harness.report.wording.words import difference_words, launch_command, resolve_command, world_words, writer_words
from harness.subjects.spec import SubjectSpec
from harness.world.case import Case

__all__ = ["Difference", "Judgement", "Report", "Subject", "UsageError", "compared_fields", "gate"]

Subject = str | Callable[..., object]
"""A subject as the command line names it (``legacy``, ``dir:PATH``, ``python:MODULE:CALLABLE``, ...), or the function
itself, which must be importable: it runs in another process.
"""

Part = Literal["field", "refusals", "environment", "outcomes"]
"""What can differ: a field, how a case is refused, a variable that is left, whether there is an outcome."""

_PARTS: Mapping[str, Part] = {
    "field": "field",
    "refusal": "refusals",
    "refusals": "refusals",
    "environment": "environment",
    "failure": "outcomes",
}


@dataclass(frozen=True)
class Difference:
    """One cause of difference.

    ``part`` is what of an outcome differs, ``name`` the field or the variable (of missing outcomes, their kinds);
    ``first`` and ``second`` are the two values, as decoded JSON. ``also`` are the fields that differ in
    consequence or in other forms of the same cause. ``count`` is the number of cases, and ``witness`` the smallest.
    ``launch`` is the witness as a launch line, and ``replay`` the command that shows what both subjects make of it.
    """

    part: Part
    name: str
    first: Any
    second: Any
    also: tuple[str, ...]
    count: int
    witness: Case
    launch: str
    replay: str
    words: str

    def __str__(self) -> str:
        """Return the difference in some lines, for a person."""
        return self.words


@dataclass(frozen=True)
class Judgement:
    """The verdict on one field, or on another part of the outcomes, with its reason in words."""

    verdict: Verdict
    reason: str
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True)
class Report:
    """What a gate found. ``result`` is the engine's own account, of which the properties are the public part."""

    result: Finished

    @property
    def verdict(self) -> Verdict:
        """``equivalent``, ``different`` or ``inconclusive``, as the README explains."""
        return self.result.verdict

    @property
    def reason(self) -> str:
        """The verdict's reason in words."""
        return self.result.reason

    @property
    def subjects(self) -> tuple[str, str]:
        """The names of the two subjects."""
        return self.result.started.first, self.result.started.second

    @property
    def cases(self) -> int:
        """The number of cases that were compared."""
        return self.result.counts.cases

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that were compared."""
        return self.result.started.compared

    @functools.cached_property
    def differences(self) -> tuple[Difference, ...]:
        """The causes of difference, most frequent first; without those that the ledger explains."""
        return tuple(_difference(bucket, self.result) for bucket in self.result.buckets)

    def of_field(self, name: str) -> Judgement:
        """Return the verdict on one field. Raises UsageError for a field that was not compared.

        A field differs where it is a difference's own or differs along with it. It is inconclusive where one of the
        places that write it never ran, or where nothing resolved at all.
        """
        if name not in self.fields:
            raise UsageError(f"the field {name!r} was not compared")
        found = tuple(one for one in self.differences if name in one.also or (one.part, one.name) == ("field", name))
        if found:
            return Judgement("different", f"{name} differs", found)
        held = {name}.intersection(self.result.started.gated)
        for label, covered in zip(self.subjects, self.result.covered, strict=True):
            for site in covered.missed(held):
                where = str(site.writer)
                return Judgement("inconclusive", f"{name} is written by {where} of {label}, which never ran")
        # A case that differs in something else resolved, too.
        others = sum(one.count for one in self.differences if one.part in ("field", "environment"))
        resolved = self.result.counts.resolved + others
        if not resolved:
            return Judgement("inconclusive", f"no case of {self.cases} resolved on both sides")
        return Judgement("equivalent", f"{name} agrees in {resolved} cases")

    def of_part(self, part: Part) -> Judgement:
        """Return the verdict on the ``refusals``, the ``environment`` or the ``outcomes`` (whether there was one)."""
        found = tuple(
            one
            for one, bucket in zip(self.differences, self.result.buckets, strict=True)
            if part in (one.part, *(_PARTS[form.kind] for form, _ in bucket.parts))
            or (part == "environment" and any(name not in self.fields for name in one.also))
        )
        if found:
            return Judgement("different", f"the {part} differ", found)
        counts = self.result.counts
        if part == "outcomes" and counts.failed:
            return Judgement("inconclusive", f"{counts.failed} of {counts.cases} cases gave no outcome to compare")
        return Judgement("equivalent", f"the {part} of {counts.cases} cases agree")

    def text(self) -> str:
        """Return the report as the command line prints it, without colours."""
        lines = io.StringIO()
        print_result(self.result, Console(file=lines, width=118, highlight=False, color_system=None))
        return lines.getvalue()

    def json(self) -> bytes:
        """Return the report as the JSON document that docs/formats.md describes."""
        return document(self.result)


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

    - ``fields`` compares these fields alone, ``all_fields`` every field of the record;
    - ``cases`` and ``seconds`` end the search, whichever comes first; 20,000 cases without either;
    - ``seed`` says which cases, ``jobs`` how many processes (one a core without it);
    - ``ledger`` and ``answers`` are files, ``python`` the interpreter that runs the subjects;
    - ``case_seconds`` and ``memory_mib`` bound a case and the process it runs in;
    - ``domains`` are values by hand of a callable's arguments, by name.

    Subjects that are text are looked for from ``folder``, the current one without it. ``listener`` gets the events of
    `harness.engine.result.events` as they happen.

    Raises UsageError, in one sentence, for a subject that cannot be loaded and for whatever does not exist.

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


def fields_of(change: Change, options: GateOptions) -> tuple[str, ...]:
    """Return the fields that a gate of two opened subjects compares. Raises UsageError for an unknown field."""
    request = _request(change, options)
    with Pair(request.first, request.second) as pair:
        return make_plan(request, pair).started.compared


def run_gate(
    change: Change,
    options: GateOptions,
    listener: Listener | None = None,
    *,
    corpus: Path | None = None,
    resume: bool = False,
) -> Report:
    """Run a gate of two opened subjects (`harness.moves.change`) and return what was found.

    With the folder ``corpus`` the cases that are kept there run first, and what is worth keeping is added, with the
    result. ``resume`` continues the search that was saved there. Raises UsageError as `gate` does, and for a corpus
    that cannot be read.
    """
    listener = listener or _ignore
    request = _request(change, options)
    if corpus is None:
        return Report(run_campaign(request, listener))
    # Last of all that can fail with a UsageError, because it makes the folder.
    store = Store(corpus, resume=resume)
    request = dataclasses.replace(request, corpus=store.cases)
    return Report(run_campaign(request, _keeping(corpus, listener), store))


def run_part(change: Change, options: GateOptions, shard: Shard) -> tuple[bytes, bool]:
    """Do one shard of a gate's search; return the file for `merge_parts`, and whether a Ctrl-C ended it early."""
    request = dataclasses.replace(_request(change, options), shard=shard)
    gathered = run_shard(request, _ignore)
    return shard_document(request, gathered), gathered.interrupted


def merge_parts(
    files: Sequence[Path], options: GateOptions, folder: Path, listener: Listener | None = None
) -> Report:
    """Put the shards in ``files`` together and return the report of the whole gate.

    Subjects are opened again from ``folder``. Of ``options``, only those count that say how to run; the others are as
    they were for the shards. Raises UsageError unless the files are all shards of one gate of the same subjects.
    """
    asked, gathered = read_shards(files)
    return Report(conclude_shards(open_again(asked, options, folder), gathered, listener or _ignore))


def replay(change: Change, cases: Sequence[Case]) -> Report:
    """Run given cases on two opened subjects and return what was found; no witness is minimised."""
    return Report(run_given(_request(change, GateOptions()), cases))


def _ignore(event: Event) -> None:
    """Listen to nothing."""


def _request(change: Change, options: GateOptions) -> Request:
    return options.request(*change.specs, aliases=change.aliases, moved=change.moved, notes=change.notes)


def _keeping(corpus: Path, listener: Listener) -> Listener:
    """Return a listener that also writes each saved result beside the corpus, so that a killed run leaves one."""

    def keeping(event: Event) -> None:
        if isinstance(event, Saved | Finished):
            result = event.result if isinstance(event, Saved) else event
            write_atomically(corpus / "result.json", document(result))
        listener(event)

    return keeping


def open_subjects(options: GateOptions, first: Subject, second: Subject, folder: Path | None) -> Change:
    """Return two subjects, opened as ``options`` say; those that are text start at ``folder``. Raises UsageError."""

    def opened(subject: Subject) -> SubjectSpec:
        name, start = (subject, folder) if isinstance(subject, str) else _place(subject)
        return options.spec(name, None if start is None else start.absolute())

    return two_subjects(opened(first), opened(second))


def _place(function: Callable[..., object]) -> tuple[str, Path]:
    """Return the name of a function's subject and the folder that its outermost package lies in."""
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


def _difference(bucket: Bucket, result: Finished) -> Difference:
    started, found = result.started, bucket.difference
    forms = [found, *(form for form, _ in bucket.parts)]
    also = dict.fromkeys(name for form in forms for name in (*_own(form), *form.along))
    also.pop(found.name, None)
    launch = launch_command(bucket.witness, started.flags)
    replay = resolve_command(bucket.witness, started.first, started.flags, started.second)
    return Difference(
        part=_PARTS[found.kind],
        name=found.name,
        first=found.first,
        second=found.second,
        also=tuple(also),
        count=bucket.count,
        witness=bucket.witness,
        launch=launch,
        replay=replay,
        words=_words(bucket, launch, replay, result),
    )


def _own(form: Parted) -> tuple[str, ...]:
    return (form.name,) if form.kind == "field" else ()


def _words(bucket: Bucket, launch: str, replay: str, result: Finished) -> str:
    started = result.started
    name, *values = difference_words(bucket.difference)
    lines = [f"{name} in {bucket.count} of {result.counts.cases} cases"]
    for label, value, where in zip(
        (started.first, started.second), values, writer_words(bucket.difference), strict=True
    ):
        lines.append(f"  {label}: {value}{where}")
    lines.append(f"  smallest: {launch}")
    if where := world_words(bucket.witness, started.flags):
        lines.append(f"            on {where}")
    lines.append(f"  replay:   {replay}")
    return "\n".join(lines)
