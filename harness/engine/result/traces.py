"""How a bucket's witness came to differ: what each side wrote on the way, or which check refused it."""

from __future__ import annotations

import msgspec

from harness.world.case import Refusal
from harness.world.chain import Write

Chain = tuple[Write, ...]


class WitnessTrace(msgspec.Struct, frozen=True, kw_only=True):
    """The writes of resolved fields that each side makes of one case, in order, and how each refused it.

    No writes where a subject is not recorded; None for a side that did not refuse.
    """

    chains: tuple[Chain, Chain] = ((), ())
    refusals: tuple[Refusal | None, Refusal | None] = (None, None)
