"""The terms of the names that are known at one place of a function."""

from __future__ import annotations

from typing import Any

from ....source.nodes import Function
from .demands import Term

# Larger terms are left out. If many branches assign a name, its term doubles in size with each of them.
_LARGEST = 15


class LocalNames:
    """The terms of the names at one place of a function.

    A local variable has its name as key; a field that was assigned before has ``("field", name)``.
    """

    def __init__(
        self, function: Function | None = None, names: dict[Any, Term] | None = None, depth: int = 0
    ) -> None:
        self.function = function
        self.names = names if names is not None else {}
        self.depth = depth

    def assigned(self) -> dict[Any, Term]:
        """Return the fields that were assigned before, without the local variables: what another function sees."""
        return {name: term for name, term in self.names.items() if isinstance(name, tuple)}

    def copy(self) -> LocalNames:
        """Return a copy for one of two branches."""
        return LocalNames(self.function, dict(self.names), self.depth)


def bounded(term: Term, instead: Term) -> Term:
    """Return ``term``, or if it is too large ``instead``, which is the term that was there before."""
    return term if _size(term) <= _LARGEST else instead


def _size(term: Term) -> int:
    return 1 + _size(term[3]) + _size(term[4]) if term[0] == "if" else 1
