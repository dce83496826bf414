"""The record with all its handlers."""

from __future__ import annotations

from legacy.handlers.entry import EntryHandlers
from legacy.handlers.inference import InferenceHandlers
from legacy.handlers.model_specific import ModelSpecificHandlers
from legacy.handlers.moe import MoeHandlers
from legacy.handlers.parallel import ParallelHandlers
from legacy.handlers.platforms import PlatformHandlers


class ServerArgs(
    EntryHandlers, PlatformHandlers, ModelSpecificHandlers, InferenceHandlers, ParallelHandlers, MoeHandlers
):
    """A server's arguments with the handlers that resolve them; `legacy.slots` lists the handlers in order.

    The constructor resolves nothing. The caller (`legacy.resolve`) also sets the entry state.
    """
