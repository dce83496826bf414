"""A guard lost: one operand of an and or an or is gone."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operator import Edit, Example, Operator, Place


class DroppedOperands(Operator):
    """A chain of and, or of or, is without one of its operands."""

    examples = (
        Example("x = a and b\n", ("x = b\n", "x = a\n")),
        Example("x = a or b or c\n", ("x = b or c\n", "x = a or c\n", "x = a or b\n")),
        Example(
            "if (\n    a\n    # why\n    and (b or c)\n):\n    d()\n",
            (
                "if (\n    (b or c)\n):\n    d()\n",
                "if (\n    a\n):\n    d()\n",
                "if (\n    a\n    # why\n    and (c)\n):\n    d()\n",
                "if (\n    a\n    # why\n    and (b)\n):\n    d()\n",
            ),
        ),
        Example("x = a and b or c\n", ("x = c\n", "x = a and b\n", "x = b or c\n", "x = a or c\n")),
    )
    unchanged = ("x = not a\n", "x = a + b\n")

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the chain that starts at ``node`` without each of its operands."""
        if not isinstance(node, cst.BooleanOperation) or _continues(place.here.parent, node):
            return
        operands = _operands(node)
        start, end = place.source.span(node)
        spans = [place.source.outer(operand) for operand in operands]
        for index, span in enumerate(spans):
            before = place.source.text[start : spans[index - 1].end] if index else ""
            after = place.source.text[spans[index + 1].start if not index else span.end : end]
            yield place.becomes(node, before + after, "guard")


def _operands(node: cst.BooleanOperation) -> list[cst.BaseExpression]:
    left = node.left
    first = _operands(left) if isinstance(left, cst.BooleanOperation) and _continues(node, left) else [left]
    return [*first, node.right]


def _continues(outer: cst.CSTNode, node: cst.BooleanOperation) -> bool:
    """Return whether ``node`` is the first part of a chain that goes on in ``outer``."""
    return (
        isinstance(outer, cst.BooleanOperation)
        and outer.left is node
        and not node.lpar
        and type(outer.operator) is type(node.operator)
    )
