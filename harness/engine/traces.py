"""How a bucket's witness came to differ: what each side wrote on the way, or which check refused it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from harness.engine.buckets import Bucket
from harness.world.case import Refusal
from harness.world.chain import Write

if TYPE_CHECKING:
    from harness.engine.pair import Pair

Chain = tuple[Write, ...]


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """The writes of resolved fields that each side makes of one case, in order, and how each refused it.

    No writes where a subject is not recorded; None for a side that did not refuse.
    """

    chains: tuple[Chain, Chain] = ((), ())
    refusals: tuple[Refusal | None, Refusal | None] = (None, None)


def trace_of(pair: Pair, bucket: Bucket) -> Trace:
    """Return how the bucket's witness came about on both sides; nothing for one that ends a process."""
    if bucket.difference.kind == "failure":
        return Trace()
    case = bucket.witness
    first, second = pair.outcomes(case)
    (left,), (right,) = pair.first.chains([case]), pair.second.chains([case])
    return Trace(chains=(tuple(left), tuple(right)), refusals=(first.error, second.error))
