"""The JSON result of a gate, as types, and the JSON schema that is made from them.

A new key leaves the number of the format as it is. The number goes up when a key is removed or gets another meaning.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from harness.engine.difference.compare import DifferenceKind
from harness.engine.result.events import Verdict
from harness.formats.contract import CaseLine
from harness.moves import Moved

FORMAT: Final = "stackproof.gate/1"
_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_FILE: Final = "gate-1.schema.json"

_Natural = Annotated[int, Meta(ge=0)]
_LineNumber = Annotated[int, Meta(ge=0)]
_RawCase = Annotated[
    msgspec.Raw,
    Meta(description="A case, as in a file of cases.", extra_json_schema={"$ref": "#/$defs/CaseLine"}),
]


class SubjectPart(msgspec.Struct):
    """One of the two subjects: as the user named it, and the wheel's hash, the commit or the folder."""

    name: str
    identity: str


class CountsPart(msgspec.Struct):
    """The number of cases with each outcome; ``cases`` is the sum of the others."""

    cases: _Natural
    resolved: _Natural
    refused: _Natural
    explained: _Natural
    different: _Natural
    failed: _Natural


class WritePart(msgspec.Struct):
    """One write while the witness was resolved: the field, its value afterwards, the function and the line."""

    field: str
    value: Any
    source: str
    file: str
    line: _LineNumber


class RefusalPart(msgspec.Struct):
    """A refusal: the type and message of the exception, and the innermost function that raised it."""

    type: str
    message: str
    origin: str


class DiffersPart(msgspec.Struct):
    """The thing that differs, its two values, and the places that decided them."""

    kind: DifferenceKind
    field: str
    first: Any
    second: Any
    writers: tuple[str, str] | None
    decision: tuple[str, str] | None
    parted: str | None
    checks: tuple[str, str] | None


class FormPart(DiffersPart):
    """One of the forms of a cause, and the number of its cases."""

    count: _Natural


class DifferencePart(DiffersPart):
    """The keys of a bucket, whether or not an entry of the ledger explains it."""

    along: tuple[str, ...]
    count: Annotated[int, Meta(ge=1)]
    parts: list[FormPart]
    witness: _RawCase
    others: list[_RawCase]
    launch: str
    resolve: tuple[str, str]


class BucketPart(DifferencePart, kw_only=True):
    """One cause of differences.

    ``chains`` are the writes that each side makes of ``field`` and of what is named in ``along`` while the witness is
    resolved, in order; ``refusals`` tells how each side refused the witness.
    """

    id: str
    explanation: list[str]
    chains: tuple[list[WritePart], list[WritePart]]
    refusals: tuple[RefusalPart | None, RefusalPart | None]


class ExplainedPart(DifferencePart, kw_only=True):
    """A difference that one entry of the ledger explains."""

    entry: str
    reason: str
    reference: str


class WriterPart(msgspec.Struct, omit_defaults=True):
    """One place that writes a compared field, and how often it ran; ``excuse`` says why it cannot."""

    field: str
    slot: str
    source: str
    file: str
    line: _LineNumber
    count: _Natural
    excuse: str = ""


class UnseenPart(msgspec.Struct, omit_defaults=True):
    """A decision without one of its branches: ``seen`` is the branch that was seen, if any.

    ``excuse`` says why it is ``never`` the other, where a comment beside it does.
    """

    text: str
    source: str
    file: str
    line: _LineNumber
    seen: Literal["neither", "true", "false"]
    never: str = ""
    excuse: str = ""


class ReachPart(msgspec.Struct):
    """The parts of one subject's resolution that ran. Each of the ``decisions`` has two branches (``outcomes``)."""

    writes: list[WriterPart]
    decisions: _Natural
    outcomes: _Natural
    unseen: list[UnseenPart]


class NamesPart(msgspec.Struct):
    """Names that cases were made with, and those that they could have been made with and never were."""

    drawn: list[str]
    never: list[str]


class DrawnPart(msgspec.Struct):
    """Architectures, and machines with a name."""

    architectures: NamesPart
    machines: NamesPart


class PairsPart(msgspec.Struct):
    """How many of all pairs of options were in a case."""

    covered: _Natural
    total: _Natural


class TriplesPart(msgspec.Struct):
    """How many of the triples that were counted were in a case; all of ``total``, or a fixed random sample."""

    covered: _Natural
    counted: _Natural
    total: _Natural


class InteractionsPart(msgspec.Struct):
    """How many pairs and triples of the options of ``parameters`` inputs were together in a case."""

    parameters: _Natural
    pairs: PairsPart
    triples: TriplesPart


class GroupPart(msgspec.Struct):
    """The cases of one architecture or machine.

    ``resolved`` by both, ``refused`` by at least one, ``failed``: without an outcome. ``different`` and ``explained``
    count cases by what differed: a field, a variable, or ``(refusal)``.
    """

    resolved: _Natural
    refused: _Natural
    failed: _Natural
    different: dict[str, int]
    explained: dict[str, int]


class BreakdownPart(msgspec.Struct):
    """The cases by the model's architecture, and by machine: a profile's name, or ``PLATFORM (other)``."""

    architectures: dict[str, GroupPart]
    machines: dict[str, GroupPart]


class GateDocument(msgspec.Struct):
    """The result of one gate.

    ``moved`` are the fields that a change moves and why, null for two subjects that are not gated as a change.
    """

    format: Literal["stackproof.gate/1"]
    verdict: Verdict
    reason: str
    interrupted: bool
    subjects: tuple[SubjectPart, SubjectPart]
    seed: int
    counts: CountsPart
    compared: tuple[str, ...]
    absent: dict[str, str]
    notes: tuple[str, ...]
    buckets: list[BucketPart]
    explained: list[ExplainedPart]
    stale: tuple[str, ...]
    reach: tuple[ReachPart, ReachPart]
    drawn: DrawnPart
    interactions: InteractionsPart
    breakdown: BreakdownPart
    moved: tuple[Moved, ...] | None = None


def make_schema() -> bytes:
    """Return the JSON schema (draft 2020-12) of a `GateDocument`, made from the types."""
    (reference, _), parts = msgspec.json.schema_components([GateDocument, CaseLine], ref_template="#/$defs/{name}")
    body = {"$schema": _DRAFT, "title": FORMAT, **reference, "$defs": parts}
    return msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n"


def schema() -> bytes:
    """Return the JSON schema of a gate's result, as it is shipped."""
    return (files("harness.report") / "schemas" / _FILE).read_bytes()
