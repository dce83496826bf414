"""Questions about stand-ins that these cannot refuse themselves: ``hasattr``, annotations, exceptions about them."""

from __future__ import annotations

import functools
import sys
import typing
from typing import Any

from .current import WORLD
from .standins import ANSWERED, Raisable, ReexportingModule, StandIn, StandInModule, Subclassed


def observing_hasattr(owner: Any, name: str) -> bool:
    """``hasattr`` for the modules of the tree: whether a stand-in has a name is a question like any other."""
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
    """Return what an exception of the tree is about when it is a stand-in that showed it is none, else None."""
    # Python raises a plain TypeError for ``except name`` with a name that is no class. Only its text differs from
    # that of a TypeError of the tree itself.
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
    """Let ``typing`` evaluate annotations as if no case were resolved: a stand-in in one is only a name."""
    evaluate = typing.get_type_hints

    @functools.wraps(evaluate)
    def get_type_hints(*args, **kwargs):
        with WORLD.importing():
            return evaluate(*args, **kwargs)

    typing.get_type_hints = get_type_hints
