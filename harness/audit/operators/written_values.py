"""Another value written: a field gets a constant in place of what was worked out for it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operator import Edit, Example, Operator, Place
from harness.audit.vocabulary import is_constant, is_member
from harness.audit.walk import is_field_write


class WrittenValues(Operator):
    """The value that is written to a field becomes None; one that is a constant already is for another operator."""

    examples = (
        Example("x.a = y.b\n", ("x.a = None\n",)),
        Example("x.a = (y.b // 2)\n", ("x.a = (None)\n",)),
        Example("x.a = f(y)\n", ("x.a = None\n",)),
        Example("x.a = y if z else (w or 1)\n", ("x.a = None if z else (w or 1)\n", "x.a = y if z else (None)\n")),
    )
    unchanged = (
        "x.a = 1\n",
        "x.a = None\n",
        "x = y.b\n",
        "x.a = Mode.FULL\n",
        "x.a += y.b\n",
        "x.a = 1 if z else 'b'\n",
    )

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the write ``node`` of None."""
        if not isinstance(node, cst.Assign) or not is_field_write(node):
            return
        for value in _values(node.value):
            if not is_constant(value) and not is_member(value):
                yield place.becomes(value, "None", "value")


def _values(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield what may be written: the branches of a conditional expression, or the expression itself."""
    if isinstance(value, cst.IfExp):
        yield from _values(value.body)
        yield from _values(value.orelse)
    else:
        yield value
