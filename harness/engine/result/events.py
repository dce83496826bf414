"""What a campaign tells its listeners while it runs. The engine prints nothing; reports are made from these."""

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
    """The architectures and the machines with a name that cases were made with, or can be."""

    architectures: set[str] = msgspec.field(default_factory=set)
    machines: set[str] = msgspec.field(default_factory=set)


class Reached(msgspec.Struct, frozen=True, kw_only=True):
    """A place that writes a compared field, and how often it ran; ``excuse`` says why it never can."""

    writer: Writer
    count: int
    excuse: str = ""

    @property
    def due(self) -> bool:
        """Whether it is among the places that ran or should have."""
        return bool(self.count) or not self.excuse

    @property
    def missed(self) -> bool:
        """Whether it should have run and never did."""
        return not self.count and not self.excuse


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """A condition on the way, and the outcomes it had: none (0), true (1), false (2) or both (3)."""

    decision: Decision
    seen: int

    @property
    def lacks(self) -> str:
        """The outcome that it never had: "true" or "false", "asked" where it had none, empty where it had both."""
        return ("asked", "false", "true", "")[self.seen]

    @property
    def excuse(self) -> str:
        """Why it cannot have the outcome that it lacks, where its source says so."""
        return self.decision.excuse if self.lacks == self.decision.never else ""


class Covered(msgspec.Struct, frozen=True, kw_only=True):
    """What a subject's resolution consists of, in the order it is come to, and what of it ran."""

    writes: tuple[Reached, ...] = ()
    decisions: tuple[Decided, ...] = ()

    @property
    def outcomes(self) -> int:
        """How many outcomes of decisions were seen; each decision has two."""
        return sum((site.seen & 1) + (site.seen >> 1) for site in self.decisions)

    def missed(self, fields: Collection[str]) -> list[Reached]:
        """The places that write one of ``fields``, should have run and never did."""
        return [site for site in self.writes if site.missed and site.writer.field in fields]


class Space(msgspec.Struct, frozen=True, kw_only=True):
    """What interactions are counted over: so many inputs, and of their options all ``pairs`` and ``triples``.

    ``sampled`` of the triples are looked at: all, or a fixed random sample of them.
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
    """How many of a space's pairs, and of the triples that were looked at, were in a case."""

    space: Space = Space()
    pairs: int = 0
    triples: int = 0


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """The subjects are loaded and described; cases come next.

    ``compared`` are the outcome fields both have; ``absent`` maps a field to the label of the one that lacks it.
    ``absent_explained`` are the ledger's entries that say so. ``writers`` are the places on each side that write a
    field and ``decisions`` the conditions there (none for a subject that is not recorded); a run that never comes to
    a writer of a ``gated`` field proves nothing about it. ``drawable`` are the names that cases can be made with, and
    ``space`` what two or three of the inputs can be together.
    ``moved`` are the fields that the change moves, None where nobody asked.
    ``notes`` are things the user should know, such as a real launch that one of the subjects cannot parse;
    ``flags`` says how a case is written as a launch line; ``folders`` are where in the user's repository the files of
    each side lie (None: not in it).
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
    """A difference of a new kind, with the first witness; it may get smaller."""

    bucket: Bucket


class Minimising(msgspec.Struct, frozen=True, kw_only=True):
    """All cases are done; the witnesses are being shrunk."""

    buckets: int


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """The campaign's result.

    ``explanations`` holds DeepDiff's account of each bucket's witness, in their order, and ``traces`` how it came
    about. ``explained`` are the buckets of the ledger's entries, and ``stale`` the ids of those that explained
    nothing. ``covered`` tells, for each side, how much of the places that write a compared field, and of the
    conditions on the way, ran; ``excerpts`` are the lines of its source that traces and uncovered places name.
    ``breakdown`` has the counts by architecture and by machine.
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
        """The architectures, and the machines with a name, that cases were made with."""
        machines = set(self.breakdown.machines) & self.started.drawable.machines
        return Drawn(architectures=set(self.breakdown.architectures), machines=machines)


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """A search can go on from here in another process; ``result`` is what it came to so far, not minimised."""

    result: Finished


Event = Started | Progressed | BucketFound | Saved | Minimising | Finished
Listener = Callable[[Event], None]
