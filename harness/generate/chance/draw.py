"""The interface for random choices, and one of its two implementations.

That one is a seeded generator, for campaigns; the other is Hypothesis, for property tests
(`harness.generate.strategies`). So the rules that build a case are written once, for both. Campaigns do not draw
through Hypothesis because it is too slow: it records what shrinking needs, so that one draw takes longer than making
a whole case here (about 10 µs).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Draw(Protocol):
    """A source of choices."""

    def below(self, bound: int) -> int:
        """Return an integer from 0 up to but not including ``bound``."""
        ...

    def chance(self, percent: int) -> bool:
        """Return True in ``percent`` of a hundred draws."""
        ...

    def pick(self, options: Sequence[T]) -> T:
        """Return one of ``options``."""
        ...


class SeededDraw:
    """Choices that depend only on a seed and the number of a stream: the same on every machine and in every Python.

    They come from ``random.random()`` alone, because Python promises to keep only the sequence of that method for a
    given seed.
    """

    def __init__(self, seed: int, stream: int) -> None:
        self._random: Callable[[], float] = random.Random(f"stackproof:{seed}:{stream}").random

    def below(self, bound: int) -> int:
        """Return an integer below ``bound``."""
        return int(self._random() * bound)

    def chance(self, percent: int) -> bool:
        """Return True in ``percent`` of a hundred draws."""
        return self._random() * 100 < percent

    def pick(self, options: Sequence[T]) -> T:
        """Return one of ``options``."""
        return options[int(self._random() * len(options))]


def shuffled(items: Sequence[T], draw: Draw) -> list[T]:
    """Return the items in an order that ``draw`` decides."""
    order = list(items)
    for last in range(len(order) - 1, 0, -1):
        other = draw.below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order
