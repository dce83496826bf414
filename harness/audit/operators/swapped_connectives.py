"""One connective for the other: and becomes or, or becomes and."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operator import Edit, Example, Operator, Place


class SwappedConnectives(Operator):
    """One and becomes an or, or the other way; what binds tighter then binds tighter in the mutant too."""

    examples = (
        Example("x = a and b\n", ("x = a or b\n",)),
        Example("x = a or b or c\n", ("x = a or b and c\n", "x = a and b or c\n")),
        Example("x = (\n    a  # and\n    or b\n)\n", ("x = (\n    a  # and\n    and b\n)\n",)),
    )
    unchanged = ("x = a & b\n",)

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield ``node`` with the other connective."""
        if isinstance(node, cst.BooleanOperation):
            yield place.becomes(node.operator, "or" if isinstance(node.operator, cst.And) else "and", "guard")
