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
        # Whoever ran the first branch does not get to the second.
        "def f():\n    if a:\n        return b\n    elif c:\n        raise d\n    else:\n        e()\n",
        "if a:\n    if b:\n        raise c\n    else:\n        raise d\nif e:\n    f()\n",
        "if a:\n    b()\nc()\nif d:\n    e()\n",
        "for a in b:\n    c()\nelse:\n    d()\n",
    )

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the faults of a branch, and those of a block whose statements are branches."""
        if isinstance(node, cst.If) and not all(_leaves(one.body) for one in _chain_to(node, place)):
            if isinstance(node.orelse, cst.If):
                yield _keyword(node.orelse, place, "elif", "if")
            elif isinstance(node.orelse, cst.Else):
                yield _keyword(node.orelse, place, "else", "if True")
        elif isinstance(node, cst.IndentedBlock | cst.Module):
            yield from _lost(node.body, place)


def _lost(body: Sequence[cst.CSTNode], place: Place) -> Iterator[Edit]:
    for first, second in pairwise(body):
        if not isinstance(first, cst.If) or not isinstance(second, cst.If):
            continue
        chain = _chain_from(first)
        if chain[-1].orelse is None and not all(_leaves(one.body) for one in chain):
            yield _keyword(second, place, "if", "elif")


def _chain_from(node: cst.If) -> list[cst.If]:
    """Return ``node`` and each elif behind it."""
    chain = [node]
    while isinstance(chain[-1].orelse, cst.If):
        chain.append(chain[-1].orelse)
    return chain


def _chain_to(node: cst.If, place: Place) -> list[cst.If]:
    """Return ``node`` and, where it is an elif, each branch before it."""
    chain = [node]
    for outer in reversed(place.here.ancestors):
        if not isinstance(outer, cst.If) or outer.orelse is not chain[-1]:
            break
        chain.append(outer)
    return chain


def _leaves(body: cst.CSTNode) -> bool:
    """Return whether nothing behind a block or statement runs once it has."""
    if isinstance(body, cst.BaseSuite | cst.SimpleStatementLine):
        return bool(body.body) and _leaves(body.body[-1])
    if isinstance(body, cst.If):
        chain = _chain_from(body)
        end = chain[-1].orelse
        return isinstance(end, cst.Else) and _leaves(end.body) and all(_leaves(one.body) for one in chain)
    return isinstance(body, cst.Return | cst.Raise | cst.Continue | cst.Break)


def _keyword(node: cst.CSTNode, place: Place, keyword: str, text: str) -> Edit:
    start, _ = place.source.span(node)
    assert place.source.text.startswith(keyword, start)
    return Edit(Span(start, start + len(keyword)), text, "guard")
