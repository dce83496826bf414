"""The imperative resolution: the ServerArgs record and its handlers, run slot by slot on a simulated machine.

It is a faithful port of the resolution slice of sglang 0.5.14, with two intended differences (``ledger.toml``): fa4
forces pages of 128 tokens whichever of the three backend fields names it, and MiniMax M2 sets ``enable_tf32_matmul``.
"""

from __future__ import annotations

from harness.world.slice import FIELDS, STATE
from legacy.resolution import arguments, resolve
from legacy.server_args import ServerArgs
from legacy.slots import SLOTS

__all__ = ["FIELDS", "SLOTS", "STATE", "ServerArgs", "arguments", "resolve"]
