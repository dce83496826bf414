"""The events that a campaign sends to its listeners. The engine prints nothing; reports are made from events."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal

import msgspec

from harness.engine.difference.buckets import Bucket
from harness.engine.ledger.entries import Ledger
from harness.engine.result.breakdown import Breakdown
from harness.engine.result.excerpts import Excerpts
from harness.engine.result.traces import WitnessTrace
from harness.formats.launch import LaunchFlags
from harness.moves import Moved
from harness.world.chain import Decision, Writer

Verdict = Literal["equivalent", "different", "inconclusive"]


class Counts(msgspec.Struct, kw_only=True):
    """How the cases came out.

    Both resolved and agreed, both refused and agreed, differed only as the ledger explains, differed, or gave no
    outcome.
    """

    resolved: int = 0
    refused: int = 0
    explained: int = 0
    different: int = 0
    failed: int = 0

    @property
    def cases(self) -> int:
        """All cases."""
        return self.resolved + self.refused + self.explained + self.different + self.failed

    def add(self, other: Counts) -> None:
        """Add the counts of other cases."""
        self.resolved += other.resolved
        self.refused += other.refused
        self.explained += other.explained
        self.different += other.different
        self.failed += other.failed


class Drawn(msgspec.Struct, kw_only=True):
    """Architectures and named machines that cases were made with, or can be made with."""

    architectures: set[str] = msgspec.field(default_factory=set)
    machines: set[str] = msgspec.field(default_factory=set)


class Reached(msgspec.Struct, frozen=True, kw_only=True):
    """A place that writes a compared field, and how often it ran; ``excuse`` says why it can never run."""

    writer: Writer
    count: int
    excuse: str = ""

    @property
    def due(self) -> bool:
        """Whether it ran or should have run."""
        return bool(self.count) or not self.excuse

    @property
    def missed(self) -> bool:
        """Whether it should have run and never did."""
        return not self.count and not self.excuse


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """A decision, and the branches that cases took: none (0), true (1), false (2) or both (3)."""

    decision: Decision
    seen: int

    @property
    def lacks(self) -> str:
        """The branch that no case took: "true" or "false", "asked" if cases took neither, "" if both."""
        return ("asked", "false", "true", "")[self.seen]

    @property
    def excuse(self) -> str:
        """Why no case can take the missing branch, if the source says so."""
        return self.decision.excuse if self.lacks == self.decision.never else ""


class Covered(msgspec.Struct, frozen=True, kw_only=True):
    """The write sites and decisions of a subject, in the order of its resolution, and how often cases ran them."""

    writes: tuple[Reached, ...] = ()
    decisions: tuple[Decided, ...] = ()

    @property
    def outcomes(self) -> int:
        """How many branches of decisions were taken; each decision has two."""
        return sum((site.seen & 1) + (site.seen >> 1) for site in self.decisions)

    def missed(self, fields: Collection[str]) -> list[Reached]:
        """The places that write one of ``fields``, should have run and never did."""
        return [site for site in self.writes if site.missed and site.writer.field in fields]


class Space(msgspec.Struct, frozen=True, kw_only=True):
    """The combinations that cases can have: the number of inputs, and of pairs and triples of their options.

    ``sampled`` triples are counted: all of them, or a fixed random sample.
    """

    parameters: int = 0
    pairs: int = 0
    triples: int = 0
    sampled: int = 0


class Tuples(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of pairs and triples that the cases of one chunk have."""

    pairs: list[int] = []
    triples: list[int] = []


class Interactions(msgspec.Struct, frozen=True, kw_only=True):
    """How many pairs of a space, and how many of its counted triples, were in a case."""

    space: Space = Space()
    pairs: int = 0
    triples: int = 0


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """The subjects are loaded and described; cases come next.

    ``compared`` are the outcome fields that both have; ``absent`` maps a field to the label of the subject that lacks
    it, and ``absent_explained`` such a field to the ledger's entry that expects it. ``writers`` are the places of
    each side that write a field, and ``decisions`` its decisions (none for a subject that is not recorded). A run
    that never reaches a writer of a ``gated`` field proves nothing about that field. ``drawable`` are the names that
    cases can be made with, and ``space`` counts the combinations of two and three inputs.
    ``moved`` are the fields that the change moves, None if the second subject is not a change of the first.
    ``notes`` are sentences for the user, for example about a real launch that one subject cannot parse. ``flags``
    says how to write a case as a launch line. ``folders`` are the folders in the user's repository that hold the
    files of each side (None: outside of it).
    """

    first: str
    second: str
    identities: tuple[str, str]
    compared: tuple[str, ...]
    absent: dict[str, str]
    seed: int
    jobs: int
    cases: int | None
    seconds: float | None
    notes: tuple[str, ...] = ()
    flags: LaunchFlags = LaunchFlags()
    ledger: Ledger = Ledger()
    absent_explained: dict[str, str] = {}
    writers: tuple[tuple[Writer, ...], tuple[Writer, ...]] = ((), ())
    decisions: tuple[tuple[Decision, ...], tuple[Decision, ...]] = ((), ())
    gated: tuple[str, ...] = ()
    drawable: Drawn = msgspec.field(default_factory=Drawn)
    space: Space = Space()
    folders: tuple[str | None, str | None] = (None, None)
    moved: tuple[Moved, ...] | None = None


class Progressed(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk of cases was compared; the counts are of this chunk alone."""

    counts: Counts


class BucketFound(msgspec.Struct, frozen=True, kw_only=True):
    """A new bucket, with its first witness; a smaller one may be found later."""

    bucket: Bucket


class Minimising(msgspec.Struct, frozen=True, kw_only=True):
    """All cases are compared; minimising begins, of this number of buckets."""

    buckets: int


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """The campaign's result.

    ``explanations`` has DeepDiff's account of each bucket's witness, in the order of ``buckets``, and ``traces`` the
    writes and refusals of each witness. ``explained`` are the buckets of the ledger's entries, and ``stale`` the ids
    of the entries that explained nothing. ``covered`` has, for each side, how often each write site of a compared
    field ran, and which branches of the decisions; ``excerpts`` has the source lines of the places in traces and of
    those that never ran. ``breakdown`` has the counts by architecture and by machine.
    """

    verdict: Verdict
    reason: str
    counts: Counts
    buckets: tuple[Bucket, ...]
    explanations: tuple[str, ...]
    traces: tuple[WitnessTrace, ...]
    explained: tuple[Bucket, ...] = ()
    stale: tuple[str, ...] = ()
    covered: tuple[Covered, Covered] = (Covered(), Covered())
    excerpts: tuple[Excerpts, Excerpts] = (Excerpts(), Excerpts())
    breakdown: Breakdown = msgspec.field(default_factory=Breakdown)
    interactions: Interactions = Interactions()
    started: Started
    interrupted: bool = False

    @property
    def drawn(self) -> Drawn:
        """The architectures and the named machines that cases were made with."""
        machines = set(self.breakdown.machines) & self.started.drawable.machines
        return Drawn(architectures=set(self.breakdown.architectures), machines=machines)


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint was saved, from which another process can continue; ``result`` so far is not minimised."""

    result: Finished


Event = Started | Progressed | BucketFound | Saved | Minimising | Finished
Listener = Callable[[Event], None]
