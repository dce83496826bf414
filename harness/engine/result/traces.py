"""The trace of a witness: what each side wrote while it resolved the case, or which check refused it."""

from __future__ import annotations

import msgspec

from harness.world.case import Refusal
from harness.world.chain import Write


class WitnessTrace(msgspec.Struct, frozen=True, kw_only=True):
    """The writes of resolved fields that each side made for one case, in order, and how each side refused it.

    ``chains`` is empty for a subject that is not recorded; ``refusals`` is None for a side that resolved.
    """

    chains: tuple[tuple[Write, ...], tuple[Write, ...]] = ((), ())
    refusals: tuple[Refusal | None, Refusal | None] = (None, None)
