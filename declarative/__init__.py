"""The declarative resolution, the successor of `legacy`.

Passes and providers declare values; one engine writes them. The arguments stay pristine meanwhile.

A name is imported when it is first used, because ``import declarative.engine`` must not load more than the standard
library. No module of the package may have one of these names, because importing a module sets an attribute of the
package with the module's name.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from declarative.description import SLOTS, reasons, steps, writers
    from declarative.inputs.server_args import ServerArgs
    from declarative.resolution import arguments, chain, exchanged, publish, recorded_reads, resolve
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

_MODULES: Final = {
    "declarative.description": ("SLOTS", "reasons", "steps", "writers"),
    "declarative.inputs.server_args": ("ServerArgs",),
    "declarative.resolution": ("arguments", "chain", "exchanged", "publish", "recorded_reads", "resolve"),
    "harness.world.slice": ("FIELDS", "STATE"),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(module), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
