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
    """A server's arguments; `legacy.slots` says in which order the handlers resolve them.

    Making one resolves nothing: whoever makes it (`legacy.resolve`) also sets the entry state.
    """
