"""The declarative resolution: what passes and providers declare over pristine arguments; it succeeds `legacy`.

Names are loaded when they are first asked for: ``import declarative.engine`` alone stays within the standard library.
So no module of the package may have one of these names.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from declarative.resolution import (
        SLOTS,
        ServerArgs,
        arguments,
        chain,
        exchanged,
        publish,
        reasons,
        recorded_reads,
        resolve,
        steps,
        writers,
    )
    from harness.world.slice import FIELDS, STATE

__all__ = [
    "FIELDS",
    "SLOTS",
    "STATE",
    "ServerArgs",
    "arguments",
    "chain",
    "exchanged",
    "publish",
    "reasons",
    "recorded_reads",
    "resolve",
    "steps",
    "writers",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module("harness.world.slice" if name in ("FIELDS", "STATE") else "declarative.resolution")
    value = globals()[name] = getattr(module, name)
    return value
