"""Buckets: differing cases grouped by what differs, each with a count and its smallest witness."""

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
    """Return how large a case is, to compare it with others.

    The number of arguments and variables counts first, then the number of attributes of machine and model, then the
    length and the text of the encoded case, then its id. No two cases weigh the same, so the smallest witness is the
    same whichever job found it first. Ids end in a number: of two equal cases the one that was made first is lighter.
    """
    line = encode_case(msgspec.structs.replace(case, id="-"))
    return (*_size(case), len(line), line, len(case.id), case.id)


def _size(case: Case) -> tuple[int, int]:
    hardware = sum(map(ne, msgspec.structs.astuple(case.hardware), _PLAIN_HARDWARE))
    model = sum(map(ne, msgspec.structs.astuple(case.model), _PLAIN_MODEL))
    return len(case.args) + len(case.env), hardware + model


def _is_lighter(case: Case, other: Case) -> bool:
    """Whether ``case`` weighs less. Both are encoded, which takes long, only if their sizes are equal."""
    size, other_size = _size(case), _size(other)
    return size < other_size or (size == other_size and weight(case) < weight(other))


SAMPLE: Final = 8
"""How many cases the sample of a bucket holds."""


def lot(case: Case) -> bytes:
    """Return the case's lot: a number that looks random and depends on the case's values alone.

    A bucket keeps the cases with the lowest lots as its sample. A sample drawn while cases arrive would depend on
    their order, so on the jobs and shards. The lowest lots of two samples put together are those of all their cases.
    """
    values = case.args, case.hardware, case.model, case.env
    return hashlib.blake2b(msgspec.json.encode(values, order="deterministic"), digest_size=8).digest()


class Bucket(msgspec.Struct, kw_only=True):
    """The cases that differ for one cause: their number, the smallest of them, and some others.

    ``difference`` is that of the smallest case, the ``witness``. ``others`` is a sample of the cases, those with the
    lowest lots (see `lot`), because other cases may show the difference for other reasons. After minimising,
    ``others`` holds the minimal cases that need other inputs than ``witness``.

    If the bucket was folded from several (`harness.engine.difference.folding`), ``parts`` holds their differences and
    counts, and ``shared`` what they have in common: the side, and the text of the place or check there.
    """

    difference: Difference
    count: int
    witness: Case
    others: list[Case] = msgspec.field(default_factory=list)
    parts: list[tuple[Difference, int]] = msgspec.field(default_factory=list)
    shared: tuple[int, str] | None = None

    def copied(self) -> Bucket:
        """Return a copy whose lists can be changed; the cases are the same objects."""
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
        """Add the counts and cases of other buckets; return the buckets whose key is new here."""
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
        """Return the buckets, those with the most cases first; equal counts are in the order of the keys."""
        return sorted(self._buckets.values(), key=lambda bucket: (-bucket.count, bucket.difference.key()))
