"""One interface for random choices, with two sources: a seeded generator for campaigns, Hypothesis for property
tests.

The rules that build a case are written once, for both. Campaigns do not draw through Hypothesis: a whole case is made
in about 10 µs, and one Hypothesis draw takes longer, since it keeps what is needed to shrink.
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
    """Choices from a seed and a stream's number: the same on every machine and under every Python.

    Only ``random.random()`` is used: its sequence for a text seed is the one thing that Python promises not to
    change.
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
