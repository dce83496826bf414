"""The result for GitHub Actions: annotations on the lines that decided, and a summary for the page of the job.

Workflow commands: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

import re
from typing import Final

from harness.common.errors import visible
from harness.engine.difference.buckets import Bucket
from harness.engine.difference.compare import AS_GIVEN
from harness.engine.result.events import Finished
from harness.report.wording.causes import cause_words
from harness.report.wording.moves import in_order, reasons_words
from harness.report.wording.overview import FieldRow, field_rows
from harness.report.wording.places import repository_path, spots
from harness.report.wording.reach import drawn_words
from harness.report.wording.words import cases_word, counted, shortened

_ANNOTATIONS: Final = 10
"""The most annotations to write: GitHub shows ten errors of a step and drops the others silently."""

_SHOWN: Final = 30
_LARGEST: Final = 500_000
"""The most characters of causes in a summary: GitHub shows none over 1 MiB, and a single launch can be that long."""

_TITLES: Final = {"equivalent": "✅ equivalent", "different": "❌ different", "inconclusive": "⚠️ inconclusive"}
_SIGNS: Final = {"differs": "❌", "explained": "📖", "agrees": "✅", "unreached": "⚠️", "absent": "➖"}
_WORDS: Final = {
    "differs": "differs",
    "explained": "differs as the ledger explains",
    "agrees": "agrees",
    "unreached": "never reached",
    "absent": "not compared",
}


def workflow_commands(result: Finished) -> bytes:
    """Return workflow commands, one on each line: an error for each of the first causes, and one with the verdict.

    An error is attached to the line of the second subject that decided, if its file is in the user's repository.
    """
    started = result.started
    # The verdict is an annotation too, and may need a place among the ten to say how many causes are left out.
    shown = len(result.buckets) if len(result.buckets) < _ANNOTATIONS else _ANNOTATIONS - 1
    lines = []
    for number, bucket in enumerate(result.buckets[:shown]):
        cause = cause_words(bucket, started)
        first, second = cause.sides
        spot = spots(result, number)[1]
        path = repository_path(result, 1, spot.place.file) if spot.place is not None else None
        place = {"file": path, "line": str(spot.place.line)} if spot.place is not None and path is not None else {}
        where = f", by {spot.what}" if spot.what is not None else ""
        text = (
            f"{first.label}: {shortened(first.value)}\n{second.label}: {shortened(second.value)}{where}\n"
            f"{cause.cases}, the smallest: {cause.smallest.command}"
        )
        if cause.smallest.world:
            text += f"\non {cause.smallest.world}"
        lines.append(_command("error", {**place, "title": f"stackproof: {cause.name}{_differs(bucket)}"}, text))
    level = {"equivalent": "notice", "different": "error", "inconclusive": "warning"}[result.verdict]
    more = len(result.buckets) - shown
    text = result.reason + (f"; {more} more causes are in the summary and the other reports" if more else "")
    lines.append(_command(level, {"title": f"stackproof: {result.verdict}"}, text))
    return "".join(f"{line}\n" for line in lines).encode()


def _differs(bucket: Bucket) -> str:
    return " differs" if bucket.difference.kind in ("field", "environment") else ""


def _command(name: str, properties: dict[str, str], text: str) -> str:
    """Return a workflow command. Characters that would end a line, a property or the command are escaped."""
    said = ",".join(f"{key}={_property(visible(value))}" for key, value in properties.items())
    return f"::{name} {said}::{_data(chr(10).join(map(visible, text.splitlines())))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def summary(result: Finished) -> bytes:
    """Return the job summary as Markdown: the verdict, buckets with a launch to paste, fields, and coverage."""
    started, counts = result.started, result.counts
    drawn = drawn_words(result)
    lines = [
        f"## {_TITLES[result.verdict]}: {code(started.first)} → {code(started.second)}",
        "",
        f"{code(result.reason)}. Of {counts.cases:,} cases of seed {started.seed} {counts.resolved:,} resolve alike,"
        f" {counts.refused:,} are refused alike, {counts.explained:,} differ as the ledger explains,"
        f" {counts.different:,} differ, {counts.failed:,} have no outcome."
        + (f" Drawn: {drawn}." if drawn else "")
        + (" Stopped by Ctrl-C." if result.interrupted else ""),
        "",
        *_causes(result),
        *_moved(result),
        *_fields(result),
        *_reach(result),
    ]
    return "\n".join(lines).encode()


def _moved(result: Finished) -> list[str]:
    started = result.started
    if started.moved is None:
        return []
    shown = in_order(started.moved, set(started.compared))[:_SHOWN]
    lines = [f"### {counted(len(started.moved), 'moved field')}", ""]
    lines += [f"- {code(one.field)}: {code(shortened(reasons_words(one)))}" for one in shown]
    if len(shown) < len(started.moved):
        lines.append(f"- and {len(started.moved) - len(shown)} more, in the other reports")
    return [*lines, ""] if shown else ["No field moved.", ""]


def _causes(result: Finished) -> list[str]:
    lines: list[str] = []
    shown = size = 0
    for number in range(min(len(result.buckets), _SHOWN)):
        cause = _cause(result, number)
        size += sum(map(len, cause))
        if size > _LARGEST:
            break
        lines += cause
        shown += 1
    if shown < len(result.buckets):
        lines += [f"And {len(result.buckets) - shown} more causes, in the other reports.", ""]
    return lines


def _cause(result: Finished, number: int) -> list[str]:
    bucket = result.buckets[number]
    cause = cause_words(bucket, result.started)
    lines = [
        f"### {code(shortened(cause.name))} in {bucket.count:,} {cases_word(bucket.count)}",
        "",
        "| | resolves to | by |",
        "|---|---|---|",
    ]
    for side, spot in zip(cause.sides, spots(result, number), strict=True):
        where = f"{spot.what} ({spot.place.file}:{spot.place.line})" if spot.place is not None else spot.what
        by = cell(where) if where else _unsaid(bucket)
        lines.append(f"| {cell(side.label)} | {cell(shortened(side.value))} | {by} |")
    launch, world = cause.smallest
    lines += ["", f"The smallest launch{f', on {code(shortened(world))}' if world else ''}:", ""]
    return [*lines, *fenced(launch), ""]


def _unsaid(bucket: Bucket) -> str:
    """Return what to say of a value that no line wrote: a field keeps the value that it was given."""
    return AS_GIVEN if bucket.difference.kind == "field" and bucket.difference.writers is not None else ""


def _fields(result: Finished) -> list[str]:
    rows = field_rows(result)
    agreeing = [row for row in rows if row.state == "agrees"]
    others = [row for row in rows if row.state != "agrees"]
    first, second = result.started.first, result.started.second
    head = [f"| field | | cases | writes ran in {cell(first)} | in {cell(second)} |", "|---|---|--:|--:|--:|"]
    lines = ["### Fields", ""]
    if others:
        lines += [*head, *map(_row, others), ""]
    lines += [f"<details><summary>{len(agreeing)} agree</summary>", "", *head, *map(_row, agreeing), "", "</details>"]
    return [*lines, ""]


def _row(row: FieldRow) -> str:
    ran = [f"{ran} of {sites}" if sites else "" for ran, sites in zip(row.ran, row.sites, strict=True)]
    cases = f"{row.cases:,}" if row.cases else ""
    return f"| {cell(row.name)} | {_SIGNS[row.state]} {_WORDS[row.state]} | {cases} | {ran[0]} | {ran[1]} |"


def _reach(result: Finished) -> list[str]:
    lines = []
    for label, covered in zip((result.started.first, result.started.second), result.covered, strict=True):
        gated = result.started.gated
        never = sorted((site for site in covered.writes if site.missed), key=lambda it: it.writer.field not in gated)
        if never:
            lines += [
                f"Of {len(covered.writes)} places of {code(label)} that write a field {len(never)} never ran:",
                "",
            ]
            for site in never[:_SHOWN]:
                place = site.writer
                lines.append(f"- {code(place.field)} in {code(str(place))}")
            if len(never) > _SHOWN:
                lines.append(f"- and {len(never) - _SHOWN} more")
            lines.append("")
    return lines


def code(text: str) -> str:
    """Return ``text`` as a Markdown code span, so that nothing in it becomes markup, a link or a mention.

    The span is between more backticks than ``text`` has in a row.
    """
    shown = visible(text) or " "
    ticks = "`" * (_longest_run(shown) + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def cell(text: str) -> str:
    """Return ``text`` as a code span for a cell of a table, in which ``|`` must be escaped."""
    return code(text).replace("|", "\\|")


def fenced(text: str) -> list[str]:
    """Return ``text`` as the lines of a Markdown code block, with a fence longer than any run of backticks in it."""
    lines = [visible(line) for line in text.splitlines()]
    fence = "`" * max(3, *(_longest_run(line) + 1 for line in lines), 3)
    return [f"{fence}sh", *lines, fence]


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
