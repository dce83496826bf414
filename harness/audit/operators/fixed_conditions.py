"""A condition dropped: what it decided happens always, or never."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operator import Edit, Example, Operator, Place
from harness.audit.walk import is_condition


class FixedConditions(Operator):
    """The test of an if, elif or conditional expression becomes True or False; an assert's becomes True."""

    examples = (
        Example("if a:\n    b()\n", ("if True:\n    b()\n", "if False:\n    b()\n")),
        Example("x = 1 if (a or b) else 2\n", ("x = 1 if (True) else 2\n", "x = 1 if (False) else 2\n")),
        Example("assert a == b, 'text'\n", ("assert True, 'text'\n",)),
        Example("x = [a for a in b if c]\n", ("x = [a for a in b if True]\n", "x = [a for a in b if False]\n")),
    )
    unchanged = ("while a:\n    b()\n", "if True:\n    b()\n", "x = a or b\n")

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the fixed outcomes of ``node`` if it is a test."""
        parent = place.here.parent
        if not is_condition(parent, node) or isinstance(parent, cst.While):
            return
        if place.source.text_of(node) in ("True", "False"):
            return
        yield place.becomes(node, "True", "guard")
        if not isinstance(parent, cst.Assert):
            yield place.becomes(node, "False", "guard")
