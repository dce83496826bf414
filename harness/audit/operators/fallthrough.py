"""A fallthrough gained or lost: a second branch runs too, or no longer does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import libcst as cst

from harness.audit.operator import Edit, Example, Operator, Place
from harness.audit.source import Span


class Fallthrough(Operator):
    """An elif or else becomes an if of its own, or an if becomes the elif of the one before it."""

    examples = (
        Example(
            "if a:\n    b()\nelif c:\n    d()\nelse:\n    e()\n",
            (
                "if a:\n    b()\nif c:\n    d()\nelse:\n    e()\n",
                "if a:\n    b()\nelif c:\n    d()\nif True:\n    e()\n",
            ),
        ),
        Example(
            "if a:\n    b()\n\n# why\nif c:\n    d()\n",
            ("if a:\n    b()\n\n# why\nelif c:\n    d()\n",),
        ),
    )
    unchanged = (
        "if a:\n    b()\n",
        "if a:\n    b()\nc()\nif d:\n    e()\n",
        "for a in b:\n    c()\nelse:\n    d()\n",
    )

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the faults of a branch, and those of a block whose statements are branches."""
        if isinstance(node, cst.If):
            if isinstance(node.orelse, cst.If):
                yield _keyword(node.orelse, place, "elif", "if")
            elif isinstance(node.orelse, cst.Else):
                yield _keyword(node.orelse, place, "else", "if True")
        elif isinstance(node, cst.IndentedBlock | cst.Module):
            yield from _lost(node.body, place)


def _lost(body: Sequence[cst.CSTNode], place: Place) -> Iterator[Edit]:
    for first, second in pairwise(body):
        if isinstance(first, cst.If) and isinstance(second, cst.If) and not _has_else(first):
            yield _keyword(second, place, "if", "elif")


def _has_else(node: cst.If) -> bool:
    while isinstance(node.orelse, cst.If):
        node = node.orelse
    return node.orelse is not None


def _keyword(node: cst.CSTNode, place: Place, keyword: str, text: str) -> Edit:
    start, _ = place.source.span(node)
    assert place.source.text.startswith(keyword, start)
    return Edit(Span(start, start + len(keyword)), text, "guard")
