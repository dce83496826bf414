"""Where in the sources a bucket's difference was made, on each side: what a report points at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.engine.buckets import Bucket
from harness.engine.events import Finished
from harness.engine.excerpts import Place, check_key
from harness.world.chain import Write


class Spot(NamedTuple):
    """One side of a difference: the place and the function that decided it; both None where no line did."""

    place: Place | None
    source: str | None


def spots(result: Finished, number: int) -> tuple[Spot, Spot]:
    """Return for each side what decided the bucket ``number``'s witness.

    For a field the last write of it; for a refusal the statement that raised, or else the start of its function;
    nothing for a value as given, and where the subject does not say.
    """
    first, second = (_spot(result, number, side) for side in (0, 1))
    return first, second


def _spot(result: Finished, number: int, side: int) -> Spot:
    difference, trace = result.buckets[number].difference, result.traces[number]
    refusal = trace.refusals[side]
    if refusal is not None:
        known = result.excerpts[side]
        return Spot(known.checks.get(check_key(refusal)) or known.functions.get(refusal.origin), refusal.origin)
    if difference.kind == "field":
        last = next((write for write in reversed(trace.chains[side]) if write.field == difference.name), None)
        if last is not None:
            return Spot(Place(last.file, last.line), last.source)
    return Spot(None, None)


def involved(bucket: Bucket, chain: Sequence[Write]) -> list[Write]:
    """Return the writes of the field that parted and of those that differ in consequence, in order."""
    names = {bucket.difference.name, *bucket.difference.along}
    return [write for write in chain if write.field in names]


def repository_path(result: Finished, side: int, file: str) -> str | None:
    """Return the path of a side's file in what the user stands in, None where it is not there."""
    folder = result.started.folders[side]
    if folder is None:
        return None
    return f"{folder}/{file}" if folder else file
