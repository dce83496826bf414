"""Finds the values that faults in reads need: the arguments as a case gave them, or as they are resolved so far.

A mutant changes one expression, and no variable in the scope of that expression has these values. So they are looked
up in the frames of the running functions: every package resolves inside `harness.world.slice.resolve_slice`, and the
successor's pipeline has a local variable ``resolution``. Do not rename this module: its name is part of the text of
mutants, so kept results and entries of equivalents would no longer be found.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any, Final

from harness.world.slice import entry_arguments, resolve_slice

GIVEN: Final = f'__import__("{__name__}", fromlist=["given"]).given()'
"""An expression for `given` that needs no import."""
RESOLVED: Final = f'__import__("{__name__}", fromlist=["resolved"]).resolved()'
"""An expression for `resolved` that needs no import."""


def given() -> Any:
    """Return a record of the current case as it was before anything was resolved."""
    for frame in _running():
        if frame.f_code is resolve_slice.__code__:
            return frame.f_locals["record"](**entry_arguments(frame.f_locals["case"].args))
    raise RuntimeError("no case is being resolved")


def resolved() -> Any:
    """Return an object whose attributes are the values resolved so far."""
    for frame in _running():
        resolution = frame.f_locals.get("resolution")
        if resolution is not None:
            return _Values(resolution.values)
    raise RuntimeError("nothing is being resolved that is called a resolution")


class _Values:
    """Has the items of a mapping as attributes, as a record has its fields."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(name) from None


def _running() -> Iterator[FrameType]:
    frame = sys._getframe(1).f_back
    while frame is not None:
        yield frame
        frame = frame.f_back
