"""An aim: what a place of a resolution asks of a case, as what it leaves of each input."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from harness.generate.chance.draw import Draw
from harness.generate.values.inputs import Mask, Slot

Demand = tuple[Slot, Mask]
# Kind and name of an input, as conditions have them.
Input = tuple[str, str]
# Two inputs, what the first is to be to the second, and whether that is wanted.
Pair = tuple[Input, Input, str, bool]
Alternative = tuple[tuple[Demand, ...], tuple[Pair, ...]]
Entry = tuple[str, str, tuple[Any, ...]]


@dataclass
class Aim:
    """An aim that cases can be drawn for: what it leaves of each input, and what there is to choose between.

    ``pairs`` are inputs and how their values should be related. ``entries`` are the options of each input where
    there is nothing to choose.
    """

    left: dict[Slot, Mask] = field(default_factory=dict)
    choices: list[list[Alternative]] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    entries: list[Entry] | None = None

    def key(self) -> Hashable:
        """Return what the aim asks for: equal for two aims that ask for the same in the same order."""
        return tuple(self.left.items()), tuple(map(tuple, self.choices)), tuple(self.pairs)


def opposite(pair: Pair) -> Pair:
    """Return the pair whose relation is wanted where it was not, and the other way."""
    first, second, relation, wanted = pair
    return first, second, relation, not wanted


def add_clause(aim: Aim, clause: list[Alternative]) -> None:
    """Add the alternatives of a clause to an aim: a single one is no choice, and none asks for nothing."""
    if len(clause) == 1:
        asked, equal = clause[0]
        lay(aim.left, asked)
        aim.pairs += [pair for pair in equal if pair not in aim.pairs]
    elif clause:
        aim.choices.append(clause)


def follows(left: dict[Slot, Mask], alternative: Alternative) -> bool:
    """Return whether what is left meets an alternative anyway."""
    asked, equal = alternative
    return not equal and all(slot in left and not left[slot] & ~mask for slot, mask in asked)


def choose(left: dict[Slot, Mask], clause: list[Alternative], draw: Draw) -> tuple[Pair, ...]:
    """Lay one alternative over what is left: the first, from a drawn one on, that can be; return its pairs."""
    count = len(clause)
    start = draw.below(count)
    for step in range(count):
        asked, equal = clause[(start + step) % count]
        for slot, mask in asked:
            if slot in left and not left[slot] & mask:
                break
        else:
            lay(left, asked)
            return equal
    return ()


def lay(left: dict[Slot, Mask], demands: tuple[Demand, ...]) -> None:
    """Lay demands over what is left; one that leaves nothing is given up, since it is about a later state."""
    for slot, mask in demands:
        known = left.get(slot)
        rest = mask if known is None else known & mask
        if rest:
            left[slot] = rest
