"""Puts a bucket into words, for all reports: what differs, what decided each side, and the launch that shows it."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Final, NamedTuple

from harness.common.errors import visible
from harness.engine.difference.buckets import Bucket
from harness.engine.difference.compare import AS_GIVEN, UNCHANGED, Difference, decision_text, writer_texts
from harness.engine.result.events import Started
from harness.report.wording.launches import Launch, launch_of, resolve_command
from harness.report.wording.words import counted

_SHOWN_FORMS: Final = 5
_TITLES: Final = {"refusals": "both refuse", "refusal": "one refuses", "failure": "no outcome"}


class SideWords(NamedTuple):
    """One side of a difference: the subject's label, its value, and which place wrote or decided that.

    ``writer`` begins with three blanks, so that it can be put right behind the value; it is empty if unknown.
    """

    label: str
    value: str
    writer: str


class CauseWords(NamedTuple):
    """A bucket in words: what differs, in how many cases, the two sides, and the smallest launch.

    ``resolve`` has two commands: each shows how the subject of one side resolves that launch.
    """

    name: str
    cases: str
    sides: tuple[SideWords, SideWords]
    smallest: Launch
    resolve: tuple[str, str]


def cause_words(bucket: Bucket, started: Started) -> CauseWords:
    """Return a bucket in words; ``started`` is the event of its campaign, which names the subjects."""
    name, first, second = difference_words(bucket.difference)
    writers = writer_words(bucket.difference)
    return CauseWords(
        name=name,
        cases=counted(bucket.count, "case"),
        sides=(
            SideWords(started.first, first, writers[0]),
            SideWords(started.second, second, writers[1]),
        ),
        smallest=launch_of(bucket.witness, started.flags),
        resolve=(
            resolve_command(bucket.witness, started.first, started.flags),
            resolve_command(bucket.witness, started.second, started.flags),
        ),
    )


def difference_words(difference: Difference) -> tuple[str, str, str]:
    """Return the name of a difference, the first subject's value and the second subject's value, all as text."""
    if difference.kind in ("field", "environment"):
        first, second = (
            "unchanged" if difference.kind == "environment" and side == UNCHANGED else json.dumps(side)
            for side in (difference.first, difference.second)
        )
        return visible(difference.name), first, second
    title = _TITLES[difference.kind]
    if difference.writers is not None:
        title += f", {difference.name} having diverged"
    usual = "resolves" if difference.kind == "refusal" else "has an outcome"
    first, second = (
        visible(" ".join(side.split())) if side else usual for side in (difference.first, difference.second)
    )
    return title, first, second


def writer_words(difference: Difference) -> tuple[str, str]:
    """Return, for each side, the words to put behind its value: the last write or the decision; empty if unknown."""
    if difference.writers is None:
        if difference.decision is None:
            return "", ""
        first, second = (f"   diverged at {visible(decision_text(one))}" for one in difference.decision)
        return first, second
    field = "" if difference.kind in ("environment", "field") else f"{difference.name} "
    field = field if difference.parted is None else f"{difference.parted} "
    first, second = (
        f"   {field}{AS_GIVEN if writer is None else f'by {visible(str(writer))}'}" for writer in difference.writers
    )
    return first, second


def part_lines(bucket: Bucket, labels: tuple[str, str]) -> list[str]:
    """Return lines about the forms of a bucket: first what they have in common, then the values of each form."""
    if len(bucket.parts) < 2 or bucket.shared is None:
        return []
    side, text = bucket.shared
    lines = [f"  one cause in {len(bucket.parts)} forms, all with {visible(text)} in {labels[side]}"]
    for difference, count in bucket.parts[:_SHOWN_FORMS]:
        name, first, second = difference_words(difference)
        writers = difference.writers
        places = "" if writers is None else f"   ({visible(writer_texts(writers)[1 - side])})"
        lines.append(f"    {count:6} {name} {first} → {second}{places}")
    if len(bucket.parts) > _SHOWN_FORMS:
        lines.append(f"    and {len(bucket.parts) - _SHOWN_FORMS} more forms")
    return lines


def slug(bucket: Bucket) -> str:
    """Return a name for a bucket: what differs, and a short hash of the difference's key.

    An equal difference has the same name in every run.
    """
    difference = bucket.difference
    name = difference.name
    if difference.kind in ("refusals", "refusal"):
        # Ledgers and saved results hold this name. It must not change when the words of `difference_words` do.
        before = "" if difference.writers is None else f", {difference.name} having parted"
        name = f"{_TITLES[difference.kind]}{before}-{difference.second or difference.first}"
    words = re.sub(r"[^A-Za-z0-9_.]+", "-", name).strip("-.")[:60]
    digest = hashlib.blake2b(difference.key().encode(), digest_size=4).hexdigest()
    return f"{words or difference.kind}-{digest}"
