"""Declarations lost: what was declared is not handed on, or replaced by what is declared next."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operator import Edit, Example, Operator, Place


class DroppedDeclarations(Operator):
    """What a function returns as a dict of several keys is empty; what is added to a dict takes its place."""

    examples = (
        Example("def f():\n    return {'a': 1, 'b': 2}\n", ("def f():\n    return {}\n",)),
        Example(
            "def f():\n    d: D = {}\n    d['a'] = 1\n    return d\n",
            ("def f():\n    d: D = {}\n    d['a'] = 1\n    return {}\n",),
        ),
        Example(
            "def f(d):\n    d |= {'a': 1}\n    d |= g()\n",
            ("def f(d):\n    d = {'a': 1}\n    d |= g()\n", "def f(d):\n    d |= {'a': 1}\n    d = g()\n"),
        ),
    )
    unchanged = (
        # A dict without its one key is for another operator.
        "def f():\n    return {'a': 1}\n",
        "def f(d):\n    return d\n",
        "def f(d):\n    d += 1\n",
    )

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the statement ``node`` without what was declared."""
        if isinstance(node, cst.AugAssign) and isinstance(node.operator, cst.BitOrAssign):
            yield place.becomes(node.operator, "=", "write")
        elif isinstance(node, cst.Return) and node.value is not None and _is_declared(node.value, place):
            yield place.becomes(node.value, "{}", "write")


def _is_declared(value: cst.BaseExpression, place: Place) -> bool:
    if isinstance(value, cst.Dict):
        return len(value.elements) > 1
    if not isinstance(value, cst.Name):
        return False
    functions = [ancestor for ancestor in place.here.ancestors if isinstance(ancestor, cst.FunctionDef)]
    return bool(functions) and any(_makes_dict(child, value.value) for child in functions[-1].body.body)


def _makes_dict(statement: cst.CSTNode, name: str) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    (first, *_) = statement.body
    if isinstance(first, cst.AnnAssign):
        targets = [first.target]
    elif isinstance(first, cst.Assign):
        targets = [target.target for target in first.targets]
    else:
        return False
    return isinstance(first.value, cst.Dict) and any(isinstance(t, cst.Name) and t.value == name for t in targets)
