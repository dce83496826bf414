"""The plan, the tasks and the answers of a campaign, as plain data that can be sent to other processes."""

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
    """How long to search: a number of cases, a number of seconds, or until the first of both; at least one is set."""

    cases: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Shard:
    """One of ``of`` equal parts of a campaign: ``index`` counts from 1.

    A shard consists of whole streams (`harness.engine.search.guide`), so that its cases do not depend on what other
    shards find.
    """

    index: int = 1
    of: int = 1

    def chunk(self, count: int) -> int:
        """Return the number of the chunk that comes after the shard's first ``count``."""
        return self.index - 1 + count * self.of


@dataclass(frozen=True)
class Request:
    """What a user asked for: two subjects, what to compare, budget, seed and jobs.

    - ``fields``: if there are some, they are compared and nothing else. If not, the resolved fields and the other
      fields that the slice writes are compared, and the environment and the refusals too.
    - ``all_fields``: compare every field of the record.
    - ``corpus``: cases to run at the beginning, after the real launches.
    - ``moved``: the fields that the second subject, a change of the first, moves; None if it is no such change. Their
      write sites must run, and no others. All fields are compared, in a slice those that it resolves.
    - ``notes``: sentences for the user.
    - ``profiles``: the user's own machines and models, from which cases are made too.
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
    """What every job needs: the fields to compare, the intended differences, and what cases are made from.

    With ``fields_alone`` nothing but the fields ``compared`` is compared.
    """

    compared: tuple[str, ...]
    fields_alone: bool
    ledger: Ledger
    seed: int
    domains: Domains
    launches: tuple[Case, ...]


class MakePlan(msgspec.Struct, frozen=True, tag=True):
    """The first task of one job: describe the subjects and make the plan."""


class Planned(msgspec.Struct, frozen=True, tag=True):
    """The answer to ``MakePlan``."""

    started: Started
    plan: Plan


class Begin(msgspec.Struct, frozen=True, tag=True):
    """Gives a job the plan; it has no answer."""

    plan: Plan


class Chunk(msgspec.Struct, frozen=True, tag=True):
    """A task: compare the first ``count`` cases of a chunk, some of which vary ``bases``."""

    number: int
    count: int
    bases: list[Case] = []


class Weigh(msgspec.Struct, frozen=True, tag=True):
    """A task: report everything that each case reaches."""

    cases: list[Case]


class Shrink(msgspec.Struct, frozen=True, tag=True):
    """A task: minimise a bucket's witness and explain it."""

    bucket: Bucket


class Compared(msgspec.Struct, frozen=True, tag=True):
    """The answer to ``Chunk``; ``reach`` reports what ran of the first and of the second subject.

    ``tuples`` are the pairs and triples of options that no earlier case of this job had. ``news`` are the cases that
    reached something which no earlier case of this job and this stream had reached.
    """

    number: int
    counts: Counts
    buckets: list[Bucket]
    breakdown: Breakdown
    reach: tuple[ReachReport, ReachReport]
    tuples: Tuples
    news: list[News]


class Weighed(msgspec.Struct, frozen=True, tag=True):
    """The answer to ``Weigh``: each case with everything that it reached, new or not."""

    news: list[News]


class Shrunk(msgspec.Struct, frozen=True, tag=True):
    """The answer to ``Shrink``."""

    bucket: Bucket
    explanation: str
    trace: WitnessTrace = WitnessTrace()


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The answer when a subject cannot be opened: the receiver raises it as a UsageError."""

    message: str
    example: str


Task = Chunk | Weigh | Shrink
Message = MakePlan | Begin | Chunk | Weigh | Shrink
Answer = Planned | Compared | Weighed | Shrunk | Failed


def encode(value: object) -> bytes:
    """Return a request, plan, task or answer as bytes; `decode` reads them."""
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
