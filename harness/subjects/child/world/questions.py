"""Handles what a stand-in cannot notice or refuse itself: ``hasattr``, annotations, exceptions about stand-ins."""

from __future__ import annotations

import functools
import sys
import typing
from typing import Any

from .current import WORLD
from .standins import ANSWERED, Raisable, ReexportingModule, StandIn, StandInModule, Subclassed


def observing_hasattr(owner: Any, name: str) -> bool:
    """Replaces ``hasattr`` in the modules of the tree: whether a stand-in has a name needs an answer, too."""
    kind = type(owner)
    if kind is StandIn:
        path, known = owner._standin_path, owner._standin_parts.get(name)
        known = known is not None and type(known) is not StandIn
    elif kind is StandInModule or kind is ReexportingModule:
        path, known = owner.__name__, name in owner.__dict__
        known = known and type(owner.__dict__[name]) is not StandIn
    else:
        return hasattr(owner, name)
    if known or f"{path}.{name}" in ANSWERED or f"{path}.{name}" in sys.modules:
        return True
    return WORLD.refuse(f"{path}.{name}", "was asked for with hasattr")


def unanswered_name(error):
    """Return which use of a stand-in caused an exception of the tree, None if none did."""
    # For ``except name``, if the name is no class, Python raises a plain TypeError. Only its text tells it from a
    # TypeError that the tree raises.
    if isinstance(error, TypeError) and str(error).startswith("catching classes that do not inherit"):
        return "a stand-in was used in an except clause"
    if not isinstance(error, AttributeError):
        return None
    owner = getattr(error, "obj", None)
    kind = owner if isinstance(owner, type) else type(owner)
    if issubclass(kind, StandInModule):
        return f"{owner.__name__}.{error.name} was read"
    if issubclass(kind, (Subclassed, Raisable)):
        return f"{getattr(kind, '_standin_path', kind.__qualname__)}.{error.name} was read"
    return None


def annotations_outside_case() -> None:
    """Let ``typing`` evaluate annotations as if no case were being resolved: there a stand-in is only a name."""
    evaluate = typing.get_type_hints

    @functools.wraps(evaluate)
    def get_type_hints(*args, **kwargs):
        with WORLD.importing():
            return evaluate(*args, **kwargs)

    typing.get_type_hints = get_type_hints
