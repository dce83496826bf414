"""Another comparison: equal or not, in or not in, is or is not, with or without the bound itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import libcst as cst

from harness.audit.operator import Edit, Example, Operator, Place

_BECOMES: Final[Mapping[type[cst.BaseCompOp], str]] = {
    cst.Equal: "!=",
    cst.NotEqual: "==",
    cst.LessThan: "<=",
    cst.LessThanEqual: "<",
    cst.GreaterThan: ">=",
    cst.GreaterThanEqual: ">",
    cst.In: "not in",
    cst.NotIn: "in",
    cst.Is: "is not",
    cst.IsNot: "is",
}


class Comparisons(Operator):
    """One comparison operator becomes its neighbour."""

    examples = (
        Example("x = a == b\n", ("x = a != b\n",)),
        Example("x = a not  in b\n", ("x = a in b\n",)),
        Example("x = (\n    a  # why\n    is not None\n)\n", ("x = (\n    a  # why\n    is None\n)\n",)),
        Example("x = 1 <= a < 2\n", ("x = 1 < a < 2\n", "x = 1 <= a <= 2\n")),
        Example("x = a > b\n", ("x = a >= b\n",)),
    )
    unchanged = ("for a in b:\n    pass\n", "x = not a\n")

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the neighbour of each operator of a comparison."""
        if isinstance(node, cst.Comparison):
            for part in node.comparisons:
                yield place.becomes(part.operator, _BECOMES[type(part.operator)], "guard")
