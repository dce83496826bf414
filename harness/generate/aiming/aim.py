"""An aim says, for one way to a place in the source, which options each input may still have.

Control reaches the place if every clause of the aim holds. A clause holds if one of its alternatives does, and an
alternative if all its demands and relations do. A clause with one alternative is applied at once: its demands narrow
the options in `Aim.left`, and its relations are added to `Aim.relations`. A clause with several alternatives is kept
in `Aim.choices`; for each case, one of them is chosen.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from harness.generate.chance.draw import Draw
from harness.generate.values.inputs import InputKey, Mask

InputDemand = tuple[InputKey, Mask]
"""An input, and the options of it that meet a condition."""
ConditionInput = tuple[str, str]
"""The kind and the name by which a condition refers to an input."""
InputRelation = tuple[ConditionInput, ConditionInput, str, bool]
"""Two inputs, a relation between their values (a key of `RELATIONS`), and whether it should hold."""
InputAlternative = tuple[tuple[InputDemand, ...], tuple[InputRelation, ...]]
"""Demands and relations, all of which have to hold."""
InputOptions = tuple[str, str, tuple[Any, ...]]
"""Kind and name of an input, and the options to draw its value from."""


@dataclass
class Aim:
    """What cases are drawn from.

    ``left`` maps an input to its remaining options; an input that is not in it may have any value. ``choices`` are
    the clauses with several alternatives. ``relations`` are the relations that should hold or not hold. ``options``
    is what `AimDraw` makes of ``left`` for drawing. It is computed in advance for an aim that leaves nothing to
    choose: most aims are such, and at about 10 µs for a whole case every step counts.
    """

    left: dict[InputKey, Mask] = field(default_factory=dict)
    choices: list[list[InputAlternative]] = field(default_factory=list)
    relations: list[InputRelation] = field(default_factory=list)
    options: list[InputOptions] | None = None

    def key(self) -> Hashable:
        """Return a key that is equal for two aims which demand the same in the same order."""
        return tuple(self.left.items()), tuple(map(tuple, self.choices)), tuple(self.relations)


def opposite(relation: InputRelation) -> InputRelation:
    """Return the negation of a relation: it holds if the given one does not."""
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
    """Return whether every case drawn from the options in ``left`` meets an alternative.

    False for an alternative with relations, because options alone do not decide these.
    """
    demands, relations = alternative
    return not relations and all(key in left and not left[key] & ~mask for key, mask in demands)


def choose(left: dict[InputKey, Mask], clause: list[InputAlternative], draw: Draw) -> tuple[InputRelation, ...]:
    """Narrow ``left`` by one alternative of a clause, and return the relations of that alternative.

    The search starts at a random alternative and takes the first that is possible; if none is, nothing changes.
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

    A demand that would leave no option is ignored. It contradicts an earlier demand on the way to the same place, so
    it must be about a value that the resolution writes in between.
    """
    for key, mask in demands:
        known = left.get(key)
        rest = mask if known is None else known & mask
        if rest:
            left[key] = rest
