"""Finds the lines of source that decided a bucket on each side, so that reports can point at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.engine.difference.buckets import Bucket
from harness.engine.result.events import Finished
from harness.world.chain import Decision, Place, Write


class Spot(NamedTuple):
    """What decided one side of a difference: a place, and in words what is there.

    ``what`` is a function, or a condition and its function. ``place`` is None if no line decided or if the line is
    unknown. Then ``what`` is None too, except for a refusal: its function is known even if its line is not.
    """

    place: Place | None
    what: str | None


_UNKNOWN = Spot(None, None)


def spots(result: Finished, number: int) -> tuple[Spot, Spot]:
    """Return, for each side, the place that decided the witness of bucket ``number``.

    The place is the last write of the field or variable, or the statement that raised a refusal. There is none for a
    value that no line wrote, or for a subject that is not recorded.
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
    """Return, for each side, the place where the two sides diverged before a refusal of the witness.

    ``number`` is that of the bucket. The place is the write or the decision in which the two sides first differ. A
    bucket that is not about a refusal has none.
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
    """Return those writes of ``chain`` that are of a field in which the bucket differs, in order.

    These fields are the bucket's own and the ones that differ as a consequence.
    """
    names = {bucket.difference.name, bucket.difference.parted, *bucket.difference.along}
    return [write for write in chain if write.field in names]


def repository_path(result: Finished, side: int, file: str) -> str | None:
    """Return the path in the user's repository of a file of one side; None if the file is outside of it."""
    folder = result.started.folders[side]
    if folder is None:
        return None
    return f"{folder}/{file}" if folder else file
