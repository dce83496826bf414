"""How a bucket's witness came to differ: what each side wrote on the way, or which check refused it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from harness.engine.buckets import Bucket
from harness.world.case import Outcome, Refusal
from harness.world.chain import Write

if TYPE_CHECKING:
    from harness.engine.pair import Pair

Chain = tuple[Write, ...]


class WitnessTrace(msgspec.Struct, frozen=True, kw_only=True):
    """The writes of resolved fields that each side makes of one case, in order, and how each refused it.

    No writes where a subject is not recorded; None for a side that did not refuse.
    """

    chains: tuple[Chain, Chain] = ((), ())
    refusals: tuple[Refusal | None, Refusal | None] = (None, None)


def trace_of(pair: Pair, bucket: Bucket, outcomes: tuple[Outcome, Outcome]) -> WitnessTrace:
    """Return how the bucket's witness, resolved last, came to ``outcomes``; nothing for one that ends a process."""
    if bucket.difference.kind == "failure":
        return WitnessTrace()
    first, second = outcomes
    (left,), (right,) = (subject.chains_of([bucket.witness], [0]) for subject in (pair.first, pair.second))
    return WitnessTrace(chains=(tuple(left), tuple(right)), refusals=(first.error, second.error))
