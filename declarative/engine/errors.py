"""Errors of declarations, flags and publishing. None of them is a refusal of a user's arguments."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DeclarationError(Exception):
    """A pass, a provider or a table declares something that it may not declare; the text names the source."""


class FlagError(AttributeError):
    """A flag that no group has, or a leaf that is missing for a resolvable field."""


class FrozenFlagsError(RuntimeError):
    """A write to flags, or a publish, after they were frozen."""


class PublishError(RuntimeError):
    """The runtime context was read before anything was published."""


class FlagDriftError(AssertionError):
    """A flag and the argument it was resolved from have drifted apart."""


def hint(name: str, names: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the one of ``names`` that resembles ``name`` most, or the empty string."""
    close = difflib.get_close_matches(name, sorted(names), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""
