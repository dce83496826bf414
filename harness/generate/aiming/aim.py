"""An aim: the conditions on one way to a place in the source, as the options that they leave for each input.

Control reaches a place if every clause of the aim holds. A clause with one alternative is applied at once: its
demands narrow the options in `Aim.left`, its relations go into `Aim.relations`. A clause with several alternatives is
kept in
`Aim.choices`, and each draw of a case picks one of them.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from harness.generate.chance.draw import Draw
from harness.generate.values.inputs import InputKey, Mask

InputDemand = tuple[InputKey, Mask]
"""An input, and the options that meet a condition on it."""
ConditionInput = tuple[str, str]
"""Kind and name of an input, as a condition has them."""
InputRelation = tuple[ConditionInput, ConditionInput, str, bool]
"""Two inputs, how the first should be related to the second, and whether that should hold or not hold."""
InputAlternative = tuple[tuple[InputDemand, ...], tuple[InputRelation, ...]]
"""Demands and relations that all have to hold."""
InputOptions = tuple[str, str, tuple[Any, ...]]
"""Kind and name of an input, and the options to draw its value from."""


@dataclass
class Aim:
    """What cases are drawn from: ``left`` are the options that remain for each input; an absent input is free.

    ``options`` are those of ``left`` as they are drawn from, worked out in advance for an aim without anything to
    choose. Most aims are such, and a whole case is made in about 10 µs, so that every step counts.
    """

    left: dict[InputKey, Mask] = field(default_factory=dict)
    choices: list[list[InputAlternative]] = field(default_factory=list)
    relations: list[InputRelation] = field(default_factory=list)
    options: list[InputOptions] | None = None

    def key(self) -> Hashable:
        """Return what the aim demands: equal for two aims that demand the same in the same order."""
        return tuple(self.left.items()), tuple(map(tuple, self.choices)), tuple(self.relations)


def opposite(relation: InputRelation) -> InputRelation:
    """Return the relation that holds where the given one does not."""
    first, second, name, wanted = relation
    return first, second, name, not wanted


def add_clause(aim: Aim, clause: list[InputAlternative]) -> None:
    """Add a clause to an aim; an empty one demands nothing."""
    if len(clause) == 1:
        demands, relations = clause[0]
        narrow(aim.left, demands)
        aim.relations += [relation for relation in relations if relation not in aim.relations]
    elif clause:
        aim.choices.append(clause)


def is_met(left: dict[InputKey, Mask], alternative: InputAlternative) -> bool:
    """Return whether every case with the options in ``left`` meets an alternative."""
    demands, relations = alternative
    return not relations and all(key in left and not left[key] & ~mask for key, mask in demands)


def choose(left: dict[InputKey, Mask], clause: list[InputAlternative], draw: Draw) -> tuple[InputRelation, ...]:
    """Narrow ``left`` by one alternative of a clause and return its relations.

    It is the first possible alternative, counted from a drawn one on; if none is possible, nothing changes.
    """
    count = len(clause)
    start = draw.below(count)
    for step in range(count):
        demands, relations = clause[(start + step) % count]
        for key, mask in demands:
            if key in left and not left[key] & mask:
                break
        else:
            narrow(left, demands)
            return relations
    return ()


def narrow(left: dict[InputKey, Mask], demands: tuple[InputDemand, ...]) -> None:
    """Narrow the options in ``left`` to those that meet the demands.

    A demand that would leave no option is ignored: it contradicts an earlier one, so it must be about a value that
    the resolution writes in between.
    """
    for key, mask in demands:
        known = left.get(key)
        rest = mask if known is None else known & mask
        if rest:
            left[key] = rest
