"""The order of checks changed: an input that two of them refuse gets the other one's refusal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import libcst as cst

from harness.audit.displays import swapped
from harness.audit.operator import Edit, Example, Operator, Place
from harness.audit.walk import last_name


class SwappedChecks(Operator):
    """Two neighbouring checks that raise different errors are exchanged."""

    examples = (
        Example(
            "def f(x):\n    assert x.a, 'text'\n    if x.b:\n        raise ValueError('text')\n",
            ("def f(x):\n    if x.b:\n        raise ValueError('text')\n    assert x.a, 'text'\n",),
        ),
        Example(
            "if a:\n    raise KeyError\nif b:\n    raise ValueError\n",
            ("if b:\n    raise ValueError\nif a:\n    raise KeyError\n",),
        ),
    )
    unchanged = (
        # Which of the two it was is in the text alone.
        "assert a\nassert b\n",
        "assert a\nif b:\n    c()\n",
        "assert a\nif b:\n    raise ValueError\nelse:\n    c()\n",
    )

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the block ``node`` with each two such neighbours exchanged."""
        if not isinstance(node, cst.IndentedBlock | cst.Module):
            return
        for first, second in pairwise(node.body):
            raised = _raised(first), _raised(second)
            if all(raised) and raised[0] != raised[1]:
                yield swapped(place.source.span(first), place.source.span(second), place, "order")


def _raised(statement: cst.CSTNode) -> str:
    """Return the error of a check, the empty string for what is none."""
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        return "AssertionError" if isinstance(statement.body[0], cst.Assert) else ""
    if not isinstance(statement, cst.If) or statement.orelse is not None or len(statement.body.body) != 1:
        return ""
    (only,) = statement.body.body
    if isinstance(only, cst.SimpleStatementLine) and isinstance(only.body[0], cst.Raise) and only.body[0].exc:
        return last_name(only.body[0].exc)
    return ""
