"""Which steps must come before which, and the check that they do."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from .errors import DeclarationError, hint

OrderConstraint: TypeAlias = tuple[str, str, str]
"""The step that comes first, the one that comes after it, and the field (or variable) for which it matters."""


def constraints_of(order: Mapping[str, Sequence[Sequence[str]]]) -> Iterator[OrderConstraint]:
    """Yield the constraints of ``order``: for each field, all steps of a group come before all of the next group.

    The steps within a group may come in any order.
    """
    for field, groups in order.items():
        for earlier, later in itertools.combinations(groups, 2):
            yield from ((before, after, field) for before in earlier for after in later)


def check_order(names: Sequence[str], constraints: Iterable[OrderConstraint]) -> None:
    """Raise DeclarationError where ``names``, the steps in execution order, do not keep to ``constraints``.

    The text names two steps and the field. If several pairs are wrong, it names the pair that is farthest apart: two
    steps that were exchanged are also in the wrong order with all steps between them. A constraint on a step that is
    not in the list, or on one step alone, is an error as well.
    """
    places = {name: place for place, name in enumerate(names)}
    wrong: list[tuple[int, OrderConstraint]] = []
    for before, after, field in constraints:
        for name in (before, after):
            if name not in places:
                raise DeclarationError(
                    f"an order is asked of {name!r}{hint(name, places)} for {field}: no step has this name"
                )
        if places[before] >= places[after]:
            wrong.append((places[before] - places[after], (before, after, field)))
    if wrong:
        _, (before, after, field) = max(wrong, key=lambda found: found[0])
        raise DeclarationError(f"{before} must come before {after}, for {field}: the pipeline has them the other way")
