"""The result of a gate for a user's own code: `Report` and its parts, which `harness.api` makes public."""

from __future__ import annotations

import functools
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rich.console import Console

from harness.common.errors import UsageError
from harness.engine.difference.buckets import Bucket
from harness.engine.result.events import Finished, Verdict
from harness.report.result.document import document
from harness.report.terminal.gate import print_result
from harness.report.wording.causes import cause_words
from harness.report.wording.launches import resolve_command
from harness.world.case import Case

ReportPart = Literal["field", "refusals", "environment", "outcomes"]
"""The parts of outcomes that can differ: a field, refusals, the environment, or whether there is an outcome."""

_PARTS: Mapping[str, ReportPart] = {
    "field": "field",
    "refusal": "refusals",
    "refusals": "refusals",
    "environment": "environment",
    "failure": "outcomes",
}


@dataclass(frozen=True)
class Difference:
    """One cause of difference.

    ``part`` is the part of the outcome that differs. ``name`` is the field or variable that differs; for missing
    outcomes it is the kinds of failure. ``first`` and ``second`` are the values of the two subjects, as decoded JSON.
    ``also`` names the fields and variables that differ as a consequence, or in other forms of the same cause.

    ``count`` is the number of cases with this difference, and ``witness`` the smallest of them. ``launch`` is the
    witness as a command line. ``replay`` is the command that shows how both subjects resolve it. ``words`` says all
    this as text.
    """

    part: ReportPart
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
        """Return the difference as a few lines of text for a person."""
        return self.words


@dataclass(frozen=True)
class Judgement:
    """The verdict on one field or on another part of the outcomes, the reason in words, and the differences found."""

    verdict: Verdict
    reason: str
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True)
class Report:
    """The result of a gate.

    ``result`` has every detail, but its structure may change; the other attributes are the public interface.
    """

    result: Finished

    @property
    def verdict(self) -> Verdict:
        """The verdict: ``equivalent``, ``different`` or ``inconclusive``. The README says what each means."""
        return self.result.verdict

    @property
    def reason(self) -> str:
        """The reason for the verdict, in words."""
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
        """The causes of difference, most frequent first. Those that the ledger explains are left out."""
        return tuple(_difference(bucket, self.result) for bucket in self.result.buckets)

    def of_field(self, name: str) -> Judgement:
        """Return the verdict on one field. Raises UsageError for a field that was not compared.

        The verdict is ``different`` if a difference names the field, as its own or as one that differs as a
        consequence. It is ``inconclusive`` if the gate requires the field's write sites and one of them never ran, or
        if no case resolved on both sides.
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
        # A case that differs in another field was resolved by both sides as well.
        others = sum(one.count for one in self.differences if one.part in ("field", "environment"))
        resolved = self.result.counts.resolved + others
        if not resolved:
            return Judgement("inconclusive", f"no case of {self.cases} resolved on both sides")
        return Judgement("equivalent", f"{name} agrees in {resolved} cases")

    def of_part(self, part: ReportPart) -> Judgement:
        """Return the verdict on the ``refusals``, the ``environment`` or the ``outcomes`` (whether there are any)."""
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

    def text(self, *, verbose: bool = False) -> str:
        """Return the report as the command line prints it (with ``--verbose``), without colours."""
        lines = io.StringIO()
        print_result(self.result, Console(file=lines, width=118, highlight=False, color_system=None), verbose=verbose)
        return lines.getvalue()

    def json(self) -> bytes:
        """Return the report as the JSON document that docs/formats.md describes."""
        return document(self.result)


def _difference(bucket: Bucket, result: Finished) -> Difference:
    started, found = result.started, bucket.difference
    forms = [found, *(form for form, _ in bucket.parts)]
    # Only the name of a field difference is a field that differs: the name of a refusal is one that diverged before.
    own = [[form.name] if form.kind == "field" else [] for form in forms]
    also = dict.fromkeys(name for names, form in zip(own, forms, strict=True) for name in (*names, *form.along))
    also.pop(found.name, None)
    cause = cause_words(bucket, started)
    launch, world = cause.smallest
    replay = resolve_command(bucket.witness, started.first, started.flags, started.second)
    lines = [
        f"{cause.name} in {bucket.count} of {result.counts.cases} cases",
        *(f"  {side.label}: {side.value}{side.writer}" for side in cause.sides),
        f"  smallest: {launch}",
        *([f"            on {world}"] if world else []),
        f"  replay:   {replay}",
    ]
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
        words="\n".join(lines),
    )
