"""A campaign's plan: everything a job needs to run any part of it, as plain data that fits through a pipe."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from harness.engine.difference.buckets import Bucket
from harness.engine.ledger.entries import Ledger
from harness.engine.result.breakdown import Breakdown
from harness.engine.result.events import Counts, Started, Tuples
from harness.engine.result.traces import WitnessTrace
from harness.engine.search.guide import News
from harness.generate.values.domains import Domains
from harness.moves import Moved
from harness.subjects.child.serve.operations import ReachReport
from harness.subjects.spec import SubjectSpec
from harness.world.case import Case
from harness.world.profiles import OwnProfiles, own_profiles


@dataclass(frozen=True)
class Budget:
    """How long to go on: a number of cases, or seconds, whichever ends first; at least one is set."""

    cases: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Shard:
    """One of ``of`` equal parts of a campaign: ``index`` counts from 1.

    A shard has whole streams (`harness.engine.search.guide`), so that its cases do not depend on what others find.
    """

    index: int = 1
    of: int = 1

    def chunk(self, count: int) -> int:
        """Return the number of the chunk that comes after the shard's first ``count``."""
        return self.index - 1 + count * self.of


@dataclass(frozen=True)
class Request:
    """What a user asked for: two subjects, what to compare, budget, seed and jobs.

    ``fields`` are the fields to compare and nothing else; when empty, the resolved fields and what the slice writes
    besides, or with ``all_fields`` every field of the record, and in both cases the environment and the refusals.
    ``corpus`` are cases to run first, after the real launches.
    ``moved`` are the fields that the second subject, a change of the first, moves: of these all write sites must run,
    of no others, and all fields are compared whose writes can run. It is None for two subjects of which neither is a
    change. ``notes`` are for the user to know.
    ``profiles`` are a user's own machines and models, of which cases are made, too.
    """

    first: SubjectSpec
    second: SubjectSpec
    fields: tuple[str, ...] = ()
    all_fields: bool = False
    budget: Budget = field(default_factory=Budget)
    ledger: Ledger = field(default_factory=Ledger)
    seed: int = 0
    jobs: int = 1
    corpus: tuple[Case, ...] = ()
    moved: tuple[Moved, ...] | None = None
    notes: tuple[str, ...] = ()
    shard: Shard = field(default_factory=Shard)
    profiles: OwnProfiles = field(default_factory=own_profiles)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The fields to compare (``fields_alone``: and nothing else), what is meant to differ, where cases come from."""

    compared: tuple[str, ...]
    fields_alone: bool
    ledger: Ledger
    seed: int
    domains: Domains
    launches: tuple[Case, ...]


class MakePlan(msgspec.Struct, frozen=True, tag=True):
    """A task, the first of one job: ask the subjects and make the plan."""


class Planned(msgspec.Struct, frozen=True, tag=True):
    """The answer to ``MakePlan``."""

    started: Started
    plan: Plan


class Begin(msgspec.Struct, frozen=True, tag=True):
    """Word to a job that the plan is made; it has no answer."""

    plan: Plan


class Chunk(msgspec.Struct, frozen=True, tag=True):
    """A task: compare the first ``count`` cases of a chunk, some of which vary ``bases``."""

    number: int
    count: int
    bases: list[Case] = []


class Weigh(msgspec.Struct, frozen=True, tag=True):
    """A task: say of each case all that it reaches."""

    cases: list[Case]


class Shrink(msgspec.Struct, frozen=True, tag=True):
    """A task: minimise a bucket's witness and explain it."""

    bucket: Bucket


class Compared(msgspec.Struct, frozen=True, tag=True):
    """The answer to ``Chunk``; ``reach`` is what of the first and of the second subject ran.

    ``tuples`` are what the cases are the first of this job to have, and ``news`` the cases that were the first
    of this job and of their stream to reach something.
    """

    number: int
    counts: Counts
    buckets: list[Bucket]
    breakdown: Breakdown
    reach: tuple[ReachReport, ReachReport]
    tuples: Tuples
    news: list[News]


class Weighed(msgspec.Struct, frozen=True, tag=True):
    """The answer to ``Weigh``: each case, with all that it reached and not only what was new."""

    news: list[News]


class Shrunk(msgspec.Struct, frozen=True, tag=True):
    """The answer to ``Shrink``."""

    bucket: Bucket
    explanation: str
    trace: WitnessTrace = WitnessTrace()


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The answer when a subject cannot be opened: the user's error, to be raised by whoever asked."""

    message: str
    example: str


Task = Chunk | Weigh | Shrink
Message = MakePlan | Begin | Chunk | Weigh | Shrink
Answer = Planned | Compared | Weighed | Shrunk | Failed


def encode(value: object) -> bytes:
    """Return a plan, task or answer as bytes."""
    return msgspec.json.encode(value, enc_hook=str)


def decode(data: bytes, kind: Any) -> Any:
    """Return what ``encode`` was given, of type ``kind``; raises msgspec.DecodeError."""
    return _decoder(kind).decode(data)


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind, dec_hook=_from_text)


def _from_text(kind: type, value: Any) -> Any:
    if kind is Path:
        return Path(value)
    raise NotImplementedError(f"no way to read a {kind}")
