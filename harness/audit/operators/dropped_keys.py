"""A key lost: a dict lacks one of the entries it was written with."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.displays import without_item
from harness.audit.operator import Edit, Example, Operator, Place


class DroppedKeys(Operator):
    """A dict display is without one of its entries."""

    examples = (
        Example("x = {'a': 1, 'b': 2}\n", ("x = {'b': 2}\n", "x = {'a': 1}\n")),
        Example("def f():\n    return {'a': (1)}\n", ("def f():\n    return {}\n",)),
        Example("x = {\n    'a': 1,\n    **more,\n}\n", ("x = {\n    **more,\n}\n", "x = {\n    'a': 1,\n}\n")),
    )
    unchanged = ("x = {}\n", "x = {'a', 'b'}\n", "x = {a: b for a in c}\n")

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the dict ``node`` without each of its entries."""
        if isinstance(node, cst.Dict):
            yield from without_item(node, node.elements, place)
