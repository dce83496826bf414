"""A step moved far: it runs before whatever it should have seen, or after whatever should have seen it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import libcst as cst

from harness.audit.displays import item_span
from harness.audit.entries import entries_of
from harness.audit.operator import Edit, Example, Operator, Place


class MovedEntries(Operator):
    """An entry of a declared list comes first, or last; to exchange neighbours is for another operator."""

    examples = (
        Example(
            "PASSES = [\n    one,\n    # why\n    two,\n    three,\n]\n",
            (
                "PASSES = [\n    two,\n    # why\n    three,\n    one,\n]\n",
                "PASSES = [\n    three,\n    # why\n    one,\n    two,\n]\n",
            ),
        ),
        Example(
            "PASSES = one, a.two, three, four\n",
            (
                "PASSES = a.two, three, four, one\n",
                "PASSES = one, three, four, a.two\n",
                "PASSES = three, one, a.two, four\n",
                "PASSES = four, one, a.two, three\n",
            ),
        ),
    )
    unchanged = ("PASSES = [one, two]\n", "x = (1, 2, 3)\n", "def f():\n    return (a, b, c)\n")

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the declared list ``node`` with each entry moved."""
        if not isinstance(node, cst.Tuple | cst.List):
            return
        entries = entries_of(place.here)
        count = len(entries)
        for index in range(count):
            if index > 1:
                yield _moved(entries, [index, *range(index), *range(index + 1, count)], place)
            if index < count - 2:
                yield _moved(entries, [*range(index), *range(index + 1, count), index], place)


def _moved(entries: Sequence[cst.BaseElement], order: list[int], place: Place) -> Edit:
    source = place.source
    spans = [item_span(entry, source) for entry in entries]
    texts = [source.text[span.start : span.end] for span in spans]
    between = [source.text[one.end : other.start] for one, other in pairwise(spans)]
    whole = "".join(texts[number] + separator for number, separator in zip(order, [*between, ""], strict=True))
    return Edit(spans[0]._replace(end=spans[-1].end), whole, "order")
