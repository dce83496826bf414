"""The case that is being resolved, as the stand-ins see it."""

import contextlib
import os
import sys


class UnansweredProbe(BaseException):
    """A stand-in was observed and the case has no answer for it.

    Not an ``Exception``: a tree's ``except Exception`` must not turn a missing answer into a value.
    """

    def __init__(self, path, how):
        super().__init__(path, how)
        self.path = path
        self.how = how


class World:
    """The current case's facts.

    ``facts`` maps ``hardware``, ``probe``, ``model``, ``checkpoint``, ``args`` and ``env`` to what the case says of
    each. ``active`` is False while the tree is being imported."""

    def __init__(self):
        self.active = False
        # Counts every look at the case, so that a cache can tell what it was computed from.
        self.observed = 0
        # Counts every write to the environment.
        self.written = 0
        # The one that every case begins with, whatever a tree puts in its place.
        self.environ = os.environ
        self.facts = {}
        self.unanswered = None
        # Modules that are there because this case says so.
        self.case_modules = []
        # What stand-ins were made to hold: (dictionary, key, what it held before), in the order of writing.
        self.undo = []
        # Importing module -> the stand-ins it took all names of, which gives it none.
        self.starred = {}

    def enter(self, facts):
        """Make ``facts`` the current case."""
        self.facts = facts
        self.unanswered = None
        self.active = True

    def leave(self):
        """End the current case: nothing that it made stand-ins or imports hold outlives it."""
        self.active = False
        if self.case_modules:
            self.forget_modules()
        while self.undo:
            holder, key, before = self.undo.pop()
            if before is self:
                holder.pop(key, None)
            else:
                holder[key] = before

    def forget_modules(self):
        """Forget the imports that a case decides, so that the next import asks again."""
        for name in self.case_modules:
            sys.modules.pop(name, None)
        self.case_modules.clear()

    def remember(self, holder, key):
        """Let ``leave`` give ``holder[key]`` the value it has now; the world itself stands for none."""
        if self.active:
            self.undo.append((holder, key, holder.get(key, self)))

    @contextlib.contextmanager
    def importing(self):
        """Run a block outside the current case."""
        active, self.active = self.active, False
        try:
            yield
        finally:
            self.active = active

    def refuse(self, path, how):
        """Raise for an observation without an answer, and remember the first one should a tree swallow it."""
        error = UnansweredProbe(path, how)
        if self.unanswered is None:
            self.unanswered = error
        raise error


WORLD = World()


class ObservedEnvironment(type(os.environ)):
    """The process's environment, whose reads count as looks at the case."""

    def __getitem__(self, key):
        WORLD.observed += 1
        return super().__getitem__(key)

    def __iter__(self):
        WORLD.observed += 1
        return super().__iter__()

    def __len__(self):
        WORLD.observed += 1
        return super().__len__()

    def __setitem__(self, key, value):
        WORLD.written += 1
        super().__setitem__(key, value)


def observe_environment():
    """Replace ``os.environ`` by one that counts reads; it shares the data of the first."""
    watched = ObservedEnvironment.__new__(ObservedEnvironment)
    watched.__dict__.update(vars(os.environ))
    os.environ = WORLD.environ = watched
    return watched
