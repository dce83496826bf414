"""The form of an operator's examples."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """A module, and every module that the operator makes of it, in the order in which it makes them."""

    before: str
    after: tuple[str, ...]


@dataclass(frozen=True)
class Examples:
    """Modules that an operator changes, and modules in which it finds nothing to change."""

    changes: tuple[Change, ...]
    unchanged: tuple[str, ...]
