"""The record with all its handlers."""

from __future__ import annotations

from legacy.entry import EntryHandlers
from legacy.inference import InferenceHandlers
from legacy.model_specific import ModelSpecificHandlers
from legacy.moe import MoeHandlers
from legacy.parallel import ParallelHandlers
from legacy.platforms import PlatformHandlers


class ServerArgs(
    EntryHandlers, PlatformHandlers, ModelSpecificHandlers, InferenceHandlers, ParallelHandlers, MoeHandlers
):
    """A server's arguments; `legacy.slots` says in which order the handlers resolve them.

    Making one resolves nothing: whoever makes it (`legacy.resolve`) also sets the entry state.
    """
