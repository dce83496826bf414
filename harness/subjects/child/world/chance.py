"""Makes ``random`` give the same sequence of numbers in each case.

Seeding a generator takes as long as a small function of a tree. So it is seeded again only if the case before drew
a number.
"""

from __future__ import annotations

import random
from typing import Any


class _Watched(random.Random):
    """The generator behind the functions of ``random``; ``drawn`` is true once it is no longer freshly seeded."""

    drawn = True

    def random(self) -> float:
        """Return the next number from 0 up to but not including 1."""
        self.drawn = True
        return super().random()

    def getrandbits(self, k: int) -> int:
        """Return a number of ``k`` random bits."""
        self.drawn = True
        return super().getrandbits(k)

    def seed(self, *args: Any, **kwargs: Any) -> None:
        """Start again from a seed."""
        super().seed(*args, **kwargs)
        self.drawn = True

    def setstate(self, state: Any) -> None:
        """Continue from a saved state."""
        super().setstate(state)
        self.drawn = True


def watch() -> None:
    """Put a watched generator behind the functions of ``random``.

    Call this before a tree is imported: ``from random import choice`` would keep a function of the old generator.
    """
    watched = _Watched(0)
    for name, function in list(vars(random).items()):
        if getattr(function, "__self__", None) is random._inst:
            setattr(random, name, getattr(watched, name))
    random._inst = watched


def renew() -> None:
    """Let ``random`` start again with the first number of a case."""
    generator = random._inst
    if type(generator) is not _Watched:
        random.seed(0)
    elif generator.drawn:
        generator.seed(0)
        generator.drawn = False
