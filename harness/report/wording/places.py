"""The lines of source that decided a bucket, on each side: reports point at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.engine.difference.buckets import Bucket
from harness.engine.result.events import Finished
from harness.world.chain import Decision, Place, Write


class Spot(NamedTuple):
    """One side of a difference: the place that decided it, and in words what is there.

    ``what`` is a function, or a condition and its function. Both are None where no line decided.
    """

    place: Place | None
    what: str | None


_UNKNOWN = Spot(None, None)


def spots(result: Finished, number: int) -> tuple[Spot, Spot]:
    """Return for each side the place that decided the witness of bucket ``number``.

    That is the last write of the field or variable, or the statement that raised a refusal. There is none for a value
    that nothing wrote, and for a subject that records nothing.
    """
    first, second = (_spot(result, number, side) for side in (0, 1))
    return first, second


def _spot(result: Finished, number: int, side: int) -> Spot:
    difference, trace = result.buckets[number].difference, result.traces[number]
    refusal = trace.refusals[side]
    if refusal is not None:
        check = _spot_of(difference.checks, side)
        return check if check.place is not None else Spot(None, refusal.origin)
    return _spot_of(difference.writers, side) if difference.kind in ("field", "environment") else _UNKNOWN


def partings(result: Finished, number: int) -> tuple[Spot, Spot]:
    """Return for each side the place at which a refused witness of bucket ``number`` diverged before its refusal.

    That is the write of a field or variable, or the decision, in which the two sides first differ.
    """
    difference = result.buckets[number].difference
    if difference.kind not in ("refusals", "refusal"):
        return _UNKNOWN, _UNKNOWN
    known = difference.writers or difference.decision
    return _spot_of(known, 0), _spot_of(known, 1)


def _spot_of(places: Sequence[Place | None] | None, side: int) -> Spot:
    place = None if places is None else places[side]
    if place is None:
        return _UNKNOWN
    return Spot(place, f"{place.text} in {place.source}" if isinstance(place, Decision) else place.source)


def involved(bucket: Bucket, chain: Sequence[Write]) -> list[Write]:
    """Return the writes of the differing field and of the fields that differ in consequence, in order."""
    names = {bucket.difference.name, bucket.difference.parted, *bucket.difference.along}
    return [write for write in chain if write.field in names]


def repository_path(result: Finished, side: int, file: str) -> str | None:
    """Return the path of a file of one side in the user's repository, None if it is not in there."""
    folder = result.started.folders[side]
    if folder is None:
        return None
    return f"{folder}/{file}" if folder else file
