"""The case that is being resolved, as the stand-ins see it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, NoReturn


class UnansweredProbe(BaseException):
    """A stand-in was observed, and the case has no answer for it.

    Not an ``Exception``: a tree's ``except Exception`` must not turn a missing answer into a value.
    """

    def __init__(self, path: str, how: str) -> None:
        super().__init__(path, how)
        self.path = path
        self.how = how


class World:
    """The current case, and what has to be undone when it ends.

    ``active`` is true while a case is being resolved, except during an import. ``facts`` is the case: it has the keys
    ``hardware``, ``probe``, ``model``, ``checkpoint``, ``args`` and ``env``.
    """

    def __init__(self) -> None:
        self.active = False
        # How often the case was looked at. A value that was computed without a look is the same in every case.
        self.observed = 0
        # How often the environment was written to.
        self.written = 0
        # Every case starts with this ``os.environ``, even if the tree has put another object in its place.
        self.environ: os._Environ[str] = os.environ
        self.facts: dict[str, Any] = {}
        # The first refused observation of this case, in case the tree swallows the exception.
        self.unanswered: UnansweredProbe | None = None
        # Modules that can be imported because this case says so.
        self.case_modules: list[str] = []
        # What the case stored in stand-ins: (dictionary, key, the value before), in the order of writing.
        self.undo: list[tuple[dict[str, Any], str, Any]] = []
        # Module -> the stand-ins from which it did ``import *``. A stand-in gives it no names,
        # so a name that is missing later is reported with this reason.
        self.starred: dict[str, set[str]] = {}

    def enter(self, facts: dict[str, Any]) -> None:
        """Make ``facts`` the current case."""
        self.facts = facts
        self.unanswered = None
        self.active = True

    def leave(self) -> None:
        """End the current case, and undo its imports and what it stored in stand-ins."""
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
        """Forget the imported modules that only some cases have, so that the next import looks at its own case."""
        for name in self.case_modules:
            sys.modules.pop(name, None)
        self.case_modules.clear()

    def remember(self, holder: dict[str, Any], key: str) -> None:
        """Let `leave` restore the present value of ``holder[key]``; ``self`` marks a key that is missing now."""
        if self.active:
            self.undo.append((holder, key, holder.get(key, self)))

    @contextlib.contextmanager
    def importing(self) -> Iterator[None]:
        """Run the block as if there were no current case."""
        active, self.active = self.active, False
        try:
            yield
        finally:
            self.active = active

    def refuse(self, path: str, how: str) -> NoReturn:
        """Raise UnansweredProbe. The first one of a case is also stored, because the tree may swallow it."""
        error = UnansweredProbe(path, how)
        if self.unanswered is None:
            self.unanswered = error
        raise error


WORLD = World()


class ObservedEnvironment(os._Environ):  # type: ignore[type-arg]
    """The environment of the process; a read of it counts as a look at the case, and writes are counted, too."""

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
    """Replace ``os.environ`` by one that counts reads and writes, with the same data."""
    watched = ObservedEnvironment.__new__(ObservedEnvironment)
    watched.__dict__.update(vars(os.environ))
    os.environ = WORLD.environ = watched
    return watched
