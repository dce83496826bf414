"""A condition turned round: what happened when it held happens when it does not."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operator import Edit, Example, Operator, Place
from harness.audit.walk import is_condition

_COMPLEMENTED = (cst.Equal, cst.NotEqual, cst.Is, cst.IsNot, cst.In, cst.NotIn)


class NegatedConditions(Operator):
    """The test of an if, elif, while, assert or conditional expression becomes its negation."""

    examples = (
        Example("if a:\n    b()\n", ("if not a:\n    b()\n",)),
        Example(
            "if (\n    a  # why\n    or b\n):\n    c()\n", ("if (\n    not (a  # why\n    or b)\n):\n    c()\n",)
        ),
        Example(
            "if not a:\n    b()\nelif not (c and d):\n    e()\n",
            (
                "if a:\n    b()\nelif not (c and d):\n    e()\n",
                "if not a:\n    b()\nelif (c and d):\n    e()\n",
            ),
        ),
        Example("x = 1 if a < b else 2\n", ("x = 1 if not (a < b) else 2\n",)),
        Example("assert f(a), 'text'\n", ("assert not f(a), 'text'\n",)),
    )
    # A comparison with an opposite is turned round by that.
    unchanged = ("if a == b:\n    c()\n", "while a not in b:\n    c()\n", "x = not a\n")

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the negation of ``node`` if it is a test."""
        if not isinstance(node, cst.BaseExpression) or not is_condition(place.here.parent, node):
            return
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
            yield place.becomes(node, place.source.outer_text(node.expression), "guard")
        elif isinstance(node, cst.Name | cst.Attribute | cst.Call):
            yield place.becomes(node, f"not {place.source.text_of(node)}", "guard")
        elif not _has_opposite(node):
            yield place.becomes(node, f"not ({place.source.text_of(node)})", "guard")


def _has_opposite(node: cst.BaseExpression) -> bool:
    return (
        isinstance(node, cst.Comparison)
        and len(node.comparisons) == 1
        and isinstance(node.comparisons[0].operator, _COMPLEMENTED)
    )
