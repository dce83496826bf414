"""What a campaign tells its listeners while it runs. The engine prints nothing; reports are made from these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from harness.engine.buckets import Bucket

Verdict = Literal["equivalent", "different", "inconclusive"]


class Counts(msgspec.Struct, kw_only=True):
    """How the cases came out: both resolved and agreed, both refused and agreed, differed, or gave no outcome."""

    resolved: int = 0
    refused: int = 0
    different: int = 0
    failed: int = 0

    @property
    def cases(self) -> int:
        """All cases."""
        return self.resolved + self.refused + self.different + self.failed

    def add(self, other: Counts) -> None:
        """Add the counts of other cases."""
        self.resolved += other.resolved
        self.refused += other.refused
        self.different += other.different
        self.failed += other.failed


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """The subjects are loaded and described; cases come next.

    ``compared`` are the outcome fields both have; ``absent`` maps a field to the label of the one that lacks it.
    ``notes`` are things the user should know, such as a real launch that one of the subjects cannot parse;
    ``flags`` gives the command-line flag of each argument that has one.
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
    flags: dict[str, str] = {}


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
    """The campaign's result. ``explanations`` holds DeepDiff's account of each bucket's witness, in their order."""

    verdict: Verdict
    reason: str
    counts: Counts
    buckets: tuple[Bucket, ...]
    explanations: tuple[str, ...]
    started: Started
    interrupted: bool = False


Event = Started | Progressed | BucketFound | Minimising | Finished
Listener = Callable[[Event], None]
