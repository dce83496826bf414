"""The random numbers of a case: the same for each, and begun anew only where the one before drew some."""

import random


class _Watched(random.Random):
    """The generator behind the functions of ``random``, which notes when one of them drew from it."""

    drawn = True

    def random(self):
        """Return the next number from 0 up to but not including 1."""
        self.drawn = True
        return super().random()

    def getrandbits(self, k):
        """Return a number of ``k`` random bits."""
        self.drawn = True
        return super().getrandbits(k)

    def seed(self, *args, **kwargs):
        """Begin anew from a seed."""
        super().seed(*args, **kwargs)
        self.drawn = True

    def setstate(self, state):
        """Go on from a state."""
        super().setstate(state)
        self.drawn = True


def watch():
    """Put a watched generator behind the functions of ``random``; to be called before a tree takes any of them."""
    watched = _Watched(0)
    for name, function in list(vars(random).items()):
        if getattr(function, "__self__", None) is random._inst:
            setattr(random, name, getattr(watched, name))
    random._inst = watched


def renew():
    """Let ``random`` give the numbers of a case from the first on. Seeding takes as long as many a small function."""
    generator = random._inst
    if type(generator) is not _Watched:
        random.seed(0)
    elif generator.drawn:
        generator.seed(0)
        generator.drawn = False
