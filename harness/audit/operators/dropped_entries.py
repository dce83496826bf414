"""An entry lost: a slot or a pass that stands in an explicit list is never run."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.displays import without_item
from harness.audit.entries import entries_of
from harness.audit.operator import Edit, Example, Operator, Place


class DroppedEntries(Operator):
    """A declared tuple or list of calls, or of functions, is without one entry."""

    examples = (
        Example(
            "SLOTS = (\n    Slot(0, a),\n    Slot(1, b),\n)\n",
            ("SLOTS = (\n    Slot(1, b),\n)\n", "SLOTS = (\n    Slot(0, a),\n)\n"),
        ),
        Example("PASSES: Final = [one, other.two]\n", ("PASSES: Final = [other.two]\n", "PASSES: Final = [one]\n")),
    )
    unchanged = ("x = (1, 2)\n", "def f():\n    return (a, b)\n", "f(a, b)\n", "x = ()\n")

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the declared list ``node`` without each of its entries."""
        if isinstance(node, cst.Tuple | cst.List) and (entries := entries_of(place.here)):
            yield from without_item(node, entries, place, "order")
