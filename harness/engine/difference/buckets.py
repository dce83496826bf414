"""Buckets: mismatches sorted by what differs, each with a count and its smallest witness."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from operator import ne
from typing import Final

import msgspec

from harness.engine.difference.compare import Difference
from harness.formats.contract import encode_case
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model

_PLAIN_HARDWARE: Final = msgspec.structs.astuple(Hardware())
_PLAIN_MODEL: Final = msgspec.structs.astuple(Model())


Weight = tuple[int, int, int, bytes, int, str]


def weight(case: Case) -> Weight:
    """Return how large a case is: arguments and variables, attributes, then length and text of its line, then its id.

    A total order over cases, so that the smallest witness is the same whichever job met it first: ids end in a
    number, and of two cases alike it is the one made first.
    """
    line = encode_case(msgspec.structs.replace(case, id="-"))
    return (*_size(case), len(line), line, len(case.id), case.id)


def _size(case: Case) -> tuple[int, int]:
    hardware = sum(map(ne, msgspec.structs.astuple(case.hardware), _PLAIN_HARDWARE))
    model = sum(map(ne, msgspec.structs.astuple(case.model), _PLAIN_MODEL))
    return len(case.args) + len(case.env), hardware + model


def _is_lighter(case: Case, other: Case) -> bool:
    """Whether ``case`` weighs less; written out, which takes long, they are only where that has to tell."""
    size, other_size = _size(case), _size(other)
    return size < other_size or (size == other_size and weight(case) < weight(other))


SAMPLE: Final = 8
"""How many further witnesses a bucket keeps."""


def lot(case: Case) -> bytes:
    """Return a number drawn for the case, by which a sample is chosen: the same wherever the case is met."""
    values = case.args, case.hardware, case.model, case.env
    return hashlib.blake2b(msgspec.json.encode(values, order="deterministic"), digest_size=8).digest()


class Bucket(msgspec.Struct, kw_only=True):
    """One kind of difference: how many cases showed it, the smallest that did, and some others.

    One symptom may have several causes, and the smallest witness shows one of them. ``others`` is a sample of the
    cases (those with the lowest lots, so it does not depend on the order they are met in); once minimised, it
    holds the forms that need something else than ``witness`` does. ``difference`` is that of the witness.

    A bucket that was put together from several of one cause (`harness.engine.difference.folding`) has those as
    ``parts``, each with its count, and what they share as ``shared``: the side, and the write or the check there.
    """

    difference: Difference
    count: int
    witness: Case
    others: list[Case] = msgspec.field(default_factory=list)
    parts: list[tuple[Difference, int]] = msgspec.field(default_factory=list)
    shared: tuple[int, str] | None = None

    def copied(self) -> Bucket:
        """Return a bucket like this one, which can be changed; the cases are the same."""
        return msgspec.structs.replace(self, others=[*self.others], parts=[*self.parts])

    def take(self, other: Bucket) -> None:
        """Add the cases of ``other``, a bucket of the same difference."""
        self.count += other.count
        if _is_lighter(other.witness, self.witness):
            self.witness = other.witness
            self.difference = other.difference
        drawn: dict[bytes, Case] = {}
        for case in (*self.others, *other.others):
            number = lot(case)
            if number not in drawn or _is_lighter(case, drawn[number]):
                drawn[number] = case
        self.others = [drawn[number] for number in sorted(drawn)[:SAMPLE]]


class Buckets:
    """All buckets of a campaign, by their difference's key."""

    def __init__(self) -> None:
        self._buckets: dict[str, Bucket] = {}

    def __len__(self) -> int:
        return len(self._buckets)

    def __contains__(self, key: str) -> bool:
        return key in self._buckets

    def add(self, difference: Difference, case: Case) -> None:
        """Count one more case with ``difference``."""
        self.merge([Bucket(difference=difference, count=1, witness=case, others=[case])])

    def merge(self, buckets: Iterable[Bucket]) -> list[Bucket]:
        """Add the counts and witnesses of other buckets; returns those that are new here."""
        new = []
        for bucket in buckets:
            known = self._buckets.get(bucket.difference.key())
            if known is None:
                self._buckets[bucket.difference.key()] = bucket
                new.append(bucket)
            else:
                known.take(bucket)
        return new

    def all(self) -> list[Bucket]:
        """Return the buckets, most frequent first, then by key."""
        return sorted(self._buckets.values(), key=lambda bucket: (-bucket.count, bucket.difference.key()))
