"""An order changed: of two neighbouring statements that write or call, the second runs first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import libcst as cst

from harness.audit.displays import swapped
from harness.audit.operator import Edit, Example, Operator, Place
from harness.audit.walk import is_field_write, is_text_call, last_name, written_names


class SwappedStatements(Operator):
    """Two neighbours in a function that write a field, call something or hold what does are exchanged."""

    examples = (
        Example("def f(x):\n    x.a = x.b\n    x.b = 1\n", ("def f(x):\n    x.b = 1\n    x.a = x.b\n",)),
        Example(
            "def f(x):\n    one(x)  # first\n\n    # why\n    if x.a:\n        x.b = 1\n    y = 1\n",
            ("def f(x):\n    if x.a:\n        x.b = 1  # first\n\n    # why\n    one(x)\n    y = 1\n",),
        ),
        Example(
            "def f(x):\n    x.a = 1\n    x.a = 2\n",
            ("def f(x):\n    x.a = 2\n    x.a = 1\n",),
        ),
        Example(
            "def f(d):\n    d['a'] = 1\n    if d['a']:\n        d['b'] = 2\n",
            ("def f(d):\n    if d['a']:\n        d['b'] = 2\n    d['a'] = 1\n",),
        ),
        Example(
            "def f(d):\n    d['a'] = 1\n    if d.e:\n        d['a'] = 2\n",
            ("def f(d):\n    if d.e:\n        d['a'] = 2\n    d['a'] = 1\n",),
        ),
    )
    unchanged = (
        # Neither can see the other.
        "def f(x):\n    x.a = 1\n    x.b = 2\n",
        "def f(x):\n    d = {}\n    if x.a:\n        d['a'] = x.b\n    d['b'] = g(x)\n    return d\n",
        "def f(x):\n    envs.A.set(True)\n    envs.B.set(True)\n",
        "def f(x):\n    y = x.a\n    x.a = 1\n",
        "def f(x):\n    logger.info('text')\n    x.a = 1\n",
        "x.a = x.b\nx.b = 1\n",
    )

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the block ``node`` with each two such neighbours exchanged."""
        if not isinstance(node, cst.IndentedBlock) or not place.here.in_function():
            return
        for first, second in pairwise(node.body):
            if _acts(first) and _acts(second) and not _independent(first, second):
                yield swapped(place.source.span(first), place.source.span(second), place, "order")


def _acts(statement: cst.CSTNode) -> bool:
    """Return whether a statement, or one inside it, writes a field or calls something for its effect."""
    if isinstance(statement, cst.FunctionDef | cst.ClassDef | cst.Return | cst.Raise):
        return False
    if is_field_write(statement):
        return True
    if isinstance(statement, cst.Expr):
        return isinstance(statement.value, cst.Call) and not is_text_call(statement.value)
    return any(_acts(child) for child in statement.children if isinstance(child, _PARTS))


_PARTS = (cst.BaseStatement, cst.BaseSmallStatement, cst.BaseSuite, cst.Else)


def _independent(first: cst.CSTNode, second: cst.CSTNode) -> bool:
    """Return whether their order is nothing: both write constants to different places, or fill different keys."""
    keys = _filled_keys(first), _filled_keys(second)
    if keys[0] and keys[1] and not keys[0] & keys[1]:
        return True
    one, other = _constant_write(first), _constant_write(second)
    return one is not None and other is not None and not one & other


def _filled_keys(statement: cst.CSTNode) -> set[tuple[str, str]]:
    """Return name and constant key of each item that a statement gives a value to.

    None where it also does something else, or reads one of the names: then it may see what another fills.
    """
    keys: set[tuple[str, str]] = set()
    read: set[str] = set()
    if not _only_fills(statement, keys, read) or {name for name, _ in keys} & read:
        return set()
    return keys


def _only_fills(node: cst.CSTNode, keys: set[tuple[str, str]], read: set[str]) -> bool:
    if isinstance(node, cst.Assign):
        for target in node.targets:
            item = target.target
            if not isinstance(item, cst.Subscript) or not isinstance(item.value, cst.Name):
                return False
            if not (key := written_names(node)):
                return False
            keys |= {(item.value.value, name) for name in key}
        return _only_fills(node.value, keys, read)
    if isinstance(node, cst.Name):
        read.add(node.value)
    acts = (cst.Expr, cst.AugAssign, cst.AnnAssign, cst.Raise, cst.Assert, cst.Return, cst.For, cst.While, cst.With)
    if isinstance(node, (*acts, cst.Try, cst.NamedExpr, cst.Del)):
        return False
    return all(_only_fills(child, keys, read) for child in node.children)


def _constant_write(statement: cst.CSTNode) -> set[str] | None:
    """Return the names that a simple statement gives constants to, None for any other statement."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None
    (small,) = statement.body
    if isinstance(small, cst.Assign) and _is_plain(small.value):
        return {last_name(target.target) for target in small.targets}
    if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
        call = small.value
        if isinstance(call.func, cst.Attribute) and call.func.attr.value == "set":
            return {last_name(call.func.value)} if all(_is_plain(arg.value) for arg in call.args) else None
    return None


def _is_plain(value: cst.BaseExpression) -> bool:
    """Return whether a value is a constant, or one of a class."""
    if isinstance(value, cst.Attribute):
        return value.attr.value.isupper()
    return isinstance(value, cst.SimpleString | cst.Integer | cst.Float) or (
        isinstance(value, cst.Name) and value.value in ("True", "False", "None")
    )
