"""Shows a gate to a person at a terminal: progress while it runs, then the verdict, the buckets and the coverage."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from harness.common.errors import visible
from harness.engine.difference.buckets import Bucket
from harness.engine.result.events import (
    BucketFound,
    Counts,
    Event,
    Finished,
    Minimising,
    Progressed,
    Saved,
    Started,
)
from harness.report.wording.causes import cause_words, difference_words, part_lines
from harness.report.wording.launches import Launch, launch_of
from harness.report.wording.moves import moved_lines
from harness.report.wording.reach import drawn_words, interactions_words, reach_lines
from harness.subjects.profile import answer_for

_STYLES = {"equivalent": "bold green", "different": "bold red", "inconclusive": "bold yellow"}
_BLOCKS = 40
_SHOWN_OTHERS = 3
# The widest cell of the table, in characters; the blocks above it have the whole text.
_CELL = 40
_SMALLEST_CELL = 8


def progress_bar(console: Console) -> Progress:
    """Return a progress bar, whose tasks need a field ``rate``. It shows nothing if ``console`` is no terminal."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


class TerminalView:
    """A listener that shows a bar on ``progress`` (standard error) and prints the result on ``output``."""

    def __init__(self, output: Console, progress: Console, *, verbose: bool = False) -> None:
        self._output = output
        self._verbose = verbose
        self._bar = progress_bar(progress)
        self._task: TaskID | None = None
        self._counts = Counts()
        self._since = 0.0

    def __enter__(self) -> TerminalView:
        self._bar.start()
        self._task = self._bar.add_task("loading the subjects", total=None, rate="")
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def __call__(self, event: Event) -> None:
        """Show one event of the campaign."""
        assert self._task is not None
        if isinstance(event, Started):
            self._since = time.monotonic()
            self._bar.update(self._task, description="comparing", total=event.cases)
        elif isinstance(event, Progressed):
            self._counts.add(event.counts)
            rate = self._counts.cases / max(time.monotonic() - self._since, 1e-6)
            self._bar.update(
                self._task, completed=self._counts.cases, rate=f"{self._counts.cases} cases, {rate:.0f}/s"
            )
        elif isinstance(event, BucketFound):
            self._announce(event.bucket)
        elif isinstance(event, Saved):
            pass
        elif isinstance(event, Minimising):
            self._bar.update(self._task, description=f"minimising {event.buckets} witnesses", rate="", total=None)
        else:
            self._bar.stop()
            print_result(event, self._output, verbose=self._verbose)

    def _announce(self, bucket: Bucket) -> None:
        """Print a new bucket above the bar at once. Without a bar nobody watches, so nothing is printed."""
        if self._bar.disable:
            return
        name, first, second = difference_words(bucket.difference)
        self._bar.console.print(
            Text.assemble(("found    ", "red"), (name, "bold"), f"  {first} → {second}"),
            no_wrap=True,
            overflow="ellipsis",
        )


def print_result(result: Finished, console: Console, *, verbose: bool = False) -> None:
    """Print a finished campaign: the verdict, then the buckets, then how much the search covered."""
    started = result.started
    say = functools.partial(_say, console)
    say(Text.assemble("verdict  ", (result.verdict, _STYLES[result.verdict]), f": {result.reason}"))
    counts = result.counts
    explained = f"{counts.explained} differ as the ledger explains, " if started.ledger.entries else ""
    say(
        f"cases    {counts.cases} of seed {started.seed}: {counts.resolved} resolve alike, {counts.refused} are "
        f"refused alike, {explained}{counts.different} differ, {counts.failed} without outcome"
    )
    if result.interrupted:
        say("stopped  by Ctrl-C; what was compared until then counts", "yellow")
    if result.buckets:
        say()
        for bucket in result.buckets[:_BLOCKS]:
            _print_bucket(bucket, started, say)
        if len(result.buckets) > _BLOCKS:
            rest = len(result.buckets) - _BLOCKS
            say(f"and {rest} more, below in a line each (--save or --format json has them whole)", "dim")
        console.print(_table(result, console.width), soft_wrap=True)
    for line in moved_lines(started.moved, started.compared) if started.moved is not None else ():
        say(line)
    for name, label in started.absent.items():
        entry = started.absent_explained.get(name)
        meant = f" (ledger: {entry})" if entry else ""
        say(f"absent   {name}: not a field of {label}, so not compared{meant}", "dim")
    for note in started.notes:
        say(f"note     {note}", "dim")
    _print_ledger(result, say)
    for label, covered in zip((started.first, started.second), result.covered, strict=True):
        for line in reach_lines(label, covered, started.gated, verbose=verbose):
            say(line)
    if drawn := drawn_words(result):
        say(f"drawn    {drawn}")
    if result.interactions.space.pairs:
        say(f"covered  {interactions_words(result.interactions)}")


def _say(console: Console, text: str | Text = "", style: str = "") -> None:
    """Print one line without breaking it: the terminal wraps it, so that it can be copied as one line."""
    console.print(Text(text, style) if isinstance(text, str) else text, soft_wrap=True)


def _print_ledger(result: Finished, say: Callable[..., None]) -> None:
    """Print each ledger entry that explained cases, with its smallest launch, then those that explained nothing."""
    started = result.started
    entries = {entry.id: entry for entry in started.ledger.entries}
    for bucket in result.explained:
        entry = entries[bucket.difference.entry or ""]
        cause = cause_words(bucket, started)
        first, second = cause.sides
        what = f" {entry.id}: {cause.cases}, such as {cause.name} {first.value} → {second.value}"
        why = f"; {visible(entry.reason)}"
        say(Text.assemble(("explained", "cyan"), what, why, (f" ({visible(entry.reference)})", "dim")))
        _print_launch("smallest", cause.smallest, say)
    for name in result.stale:
        say(f"stale    {name}: this entry of the ledger explains nothing in these cases", "yellow")


def _table(result: Finished, width: int) -> Table:
    """Return a table with a line for each bucket, at most ``width`` characters wide. Numbers are never cut."""
    labels = ("differs", result.started.first, result.started.second)
    rows = [(str(bucket.count), difference_words(bucket.difference)) for bucket in result.buckets]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("cases", justify="right", no_wrap=True)
    # We set the widths ourselves, because Rich would narrow all columns alike, the numbers too. 11 characters are
    # blank: three between each two of the four columns, and one at either edge.
    left = width - max(len("cases"), *(len(number) for number, _ in rows)) - 11
    wanted = [
        min(_CELL, max(Text(text).cell_len for text in texts))
        for texts in zip(labels, *(words for _, words in rows), strict=True)
    ]
    for label, cells in zip(labels, _shared(left, wanted), strict=True):
        table.add_column(Text(label), width=cells, no_wrap=True, overflow="ellipsis")
    for number, words in rows:
        table.add_row(number, *map(Text, words))
    return table


def _shared(columns: int, wanted: list[int]) -> list[int]:
    """Return a width for each cell of a row, so that they need at most ``columns`` in all.

    The widest cell is narrowed until they fit, but none below `_SMALLEST_CELL`.
    """
    given = list(wanted)
    while sum(given) > columns and max(given) > _SMALLEST_CELL:
        given[given.index(max(given))] -= 1
    return given


def _print_bucket(bucket: Bucket, started: Started, say: Callable[..., None]) -> None:
    difference, cause = bucket.difference, cause_words(bucket, started)
    say(Text.assemble((cause.name, "bold red"), f"   in {cause.cases}"))
    for side in cause.sides:
        say(Text.assemble((f"  {side.label}  ", "cyan"), side.value, (side.writer, "dim")))
    if difference.along:
        say(f"  with it differ {', '.join(map(visible, difference.along))}", "dim")
    for line in part_lines(bucket, (started.first, started.second)):
        say(line, "dim")
    if difference.kind == "failure":
        say(f"  in case  {bucket.witness.id}", "yellow")
    _print_launch("smallest", cause.smallest, say)
    say(f"  try      {cause.resolve[1]}", "dim")
    for case in bucket.others[:_SHOWN_OTHERS]:
        _print_launch("also", launch_of(case, started.flags), say)
    more = len(bucket.others) - _SHOWN_OTHERS
    if more > 0:
        say(f"  and {more} other forms (--save or --format json shows them)", "dim")
    if difference.kind == "failure":
        _print_missing_answers(bucket, say)
    say()


def _print_launch(word: str, launch: Launch, say: Callable[..., None]) -> None:
    say(f"  {word:9}{launch.command}")
    if launch.world:
        say(f"           on {launch.world}", "dim")


def _print_missing_answers(bucket: Bucket, say: Callable[..., None]) -> None:
    """If a probe was unanswered, print the lines to paste into a file of answers."""
    difference = bucket.difference
    kinds = difference.failures or (None, None)
    for kind, detail in zip(kinds, (difference.first, difference.second), strict=True):
        if kind == "unanswered" and (lines := answer_for(detail)):
            say("  give --answers a file with", "yellow")
            say(lines, "yellow")
