"""The case that is being resolved, as the stand-ins see it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, NoReturn


class UnansweredProbe(BaseException):
    """A stand-in was observed and the case has no answer for it.

    Not an ``Exception``: a tree's ``except Exception`` must not turn a missing answer into a value.
    """

    def __init__(self, path: str, how: str) -> None:
        super().__init__(path, how)
        self.path = path
        self.how = how


class World:
    """The current case's facts.

    ``facts`` maps ``hardware``, ``probe``, ``model``, ``checkpoint``, ``args`` and ``env`` to what the case holds of
    each. ``active`` is False while the tree is being imported.
    """

    def __init__(self) -> None:
        self.active = False
        # Counts every look at the case: a value that was computed without one is the same in every case.
        self.observed = 0
        # Counts every write to the environment.
        self.written = 0
        # Every case begins with this one, whatever a tree has put in its place.
        self.environ: os._Environ[str] = os.environ
        self.facts: dict[str, Any] = {}
        self.unanswered: UnansweredProbe | None = None
        # Modules that can be imported because this case says so.
        self.case_modules: list[str] = []
        # What stand-ins were made to hold: (dictionary, key, what it held before), in the order of writing.
        self.undo: list[tuple[dict[str, Any], str, Any]] = []
        # Importing module -> the stand-ins it did ``import *`` from, which gives it no names.
        self.starred: dict[str, set[str]] = {}

    def enter(self, facts: dict[str, Any]) -> None:
        """Make ``facts`` the current case."""
        self.facts = facts
        self.unanswered = None
        self.active = True

    def leave(self) -> None:
        """End the current case, and undo what it made stand-ins and imports hold."""
        self.active = False
        if self.case_modules:
            self.forget_modules()
        while self.undo:
            holder, key, before = self.undo.pop()
            if before is self:
                holder.pop(key, None)
            else:
                holder[key] = before

    def forget_modules(self) -> None:
        """Forget the imports that a case decides, so that the next import asks again."""
        for name in self.case_modules:
            sys.modules.pop(name, None)
        self.case_modules.clear()

    def remember(self, holder: dict[str, Any], key: str) -> None:
        """Let ``leave`` give ``holder[key]`` back the value it has now. The world itself marks that it has none."""
        if self.active:
            self.undo.append((holder, key, holder.get(key, self)))

    @contextlib.contextmanager
    def importing(self) -> Iterator[None]:
        """Run a block outside the current case."""
        active, self.active = self.active, False
        try:
            yield
        finally:
            self.active = active

    def refuse(self, path: str, how: str) -> NoReturn:
        """Raise UnansweredProbe, and remember the first one of a case in case the tree swallows it."""
        error = UnansweredProbe(path, how)
        if self.unanswered is None:
            self.unanswered = error
        raise error


WORLD = World()


class ObservedEnvironment(os._Environ):  # type: ignore[type-arg]
    """The process's environment, whose reads count as looks at the case."""

    def __getitem__(self, key: str) -> Any:
        WORLD.observed += 1
        return super().__getitem__(key)

    def __iter__(self) -> Any:
        WORLD.observed += 1
        return super().__iter__()

    def __len__(self) -> int:
        WORLD.observed += 1
        return super().__len__()

    def __setitem__(self, key: str, value: str) -> None:
        WORLD.written += 1
        super().__setitem__(key, value)


def observe_environment() -> ObservedEnvironment:
    """Replace ``os.environ`` by one that counts reads and writes; it shares the data of the first."""
    watched = ObservedEnvironment.__new__(ObservedEnvironment)
    watched.__dict__.update(vars(os.environ))
    os.environ = WORLD.environ = watched
    return watched
