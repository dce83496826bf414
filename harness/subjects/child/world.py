"""The case that is being resolved, as the stand-ins see it."""

import contextlib
import os


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
        self.facts = {}
        self.unanswered = None

    def enter(self, facts):
        """Make ``facts`` the current case."""
        self.facts = facts
        self.unanswered = None
        self.active = True

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


def observe_environment():
    """Replace ``os.environ`` by one that counts reads; it shares the data of the first."""
    watched = ObservedEnvironment.__new__(ObservedEnvironment)
    watched.__dict__.update(vars(os.environ))
    os.environ = watched  # noqa: B003
    return watched
