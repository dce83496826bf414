"""A write lost: a field keeps the value it had."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operator import Edit, Example, Operator, Place
from harness.audit.walk import is_field_write


class DroppedWrites(Operator):
    """An assignment to a field or an item becomes pass."""

    examples = (
        Example("x.a = 1\n", ("pass\n",)),
        Example("x.a = (\n    1  # why\n)  # so\n", ("pass  # so\n",)),
        Example("x.a += 1; y = 2\n", ("pass; y = 2\n",)),
        Example("x['a'] = x.b = 1\n", ("pass\n",)),
        Example("x.a: int = 1\n", ("pass\n",)),
    )
    # Without a local name there is an error at its first use, which shows nothing.
    unchanged = ("x = 1\n", "x.a: int\n", "x.a()\n")

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the statement ``node`` without its write."""
        if is_field_write(node):
            yield place.becomes(node, "pass", "write")
