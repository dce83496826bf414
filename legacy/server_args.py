"""Puts the record and all its handlers into one class."""

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

    The constructor only stores the arguments. What 0.5.14 sets before the slice begins, such as the device and the
    memory fraction, must be among them: `legacy.resolve` passes them.
    """
