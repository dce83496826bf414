"""The random numbers of a case: the same sequence for each case.

To seed the generator takes as long as many a small function of a tree. So it is seeded again only after a case that
drew a number.
"""

from __future__ import annotations

import random
from typing import Any


class _Watched(random.Random):
    """The generator behind the functions of ``random``, which notes when one of them draws from it."""

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
        """Begin anew from a seed."""
        super().seed(*args, **kwargs)
        self.drawn = True

    def setstate(self, state: Any) -> None:
        """Go on from a state."""
        super().setstate(state)
        self.drawn = True


def watch() -> None:
    """Put a watched generator behind the functions of ``random``.

    Call it before a tree is imported: ``from random import choice`` would keep a function of the first generator.
    """
    watched = _Watched(0)
    for name, function in list(vars(random).items()):
        if getattr(function, "__self__", None) is random._inst:
            setattr(random, name, getattr(watched, name))
    random._inst = watched


def renew() -> None:
    """Let ``random`` give the numbers of a case from the first on."""
    generator = random._inst
    if type(generator) is not _Watched:
        random.seed(0)
    elif generator.drawn:
        generator.seed(0)
        generator.drawn = False
