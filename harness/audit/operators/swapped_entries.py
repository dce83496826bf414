"""An order changed: two slots or passes that stand in an explicit list run in each other's place."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.displays import exchanged
from harness.audit.entries import entries_of
from harness.audit.operator import Edit, Example, Operator, Place


class SwappedEntries(Operator):
    """Two neighbours in a declared tuple or list of calls, or of functions, are exchanged."""

    examples = (
        Example(
            "SLOTS = (\n    Slot(0, a),\n    # why\n    Slot(1, b),\n)\n",
            ("SLOTS = (\n    Slot(1, b),\n    # why\n    Slot(0, a),\n)\n",),
        ),
        Example("PASSES = [one, two, three]\n", ("PASSES = [two, one, three]\n", "PASSES = [one, three, two]\n")),
    )
    unchanged = ("x = (1, 2)\n", "def f():\n    return (a, b)\n", "PASSES = [one]\n")

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the declared list ``node`` with each two neighbours exchanged."""
        if isinstance(node, cst.Tuple | cst.List):
            yield from exchanged(node, entries_of(place.here), place, "order")
