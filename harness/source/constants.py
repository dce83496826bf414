"""Values that are written out in the source: constants, lists of constants, and the names that they are given."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Plain = bool | int | float | str | None


def is_plain(value: object) -> bool:
    """Return whether a value is a text, a number, True, False or None."""
    return value is None or type(value) in (bool, int, float, str)


def literals(node: ast.AST, named: Mapping[str, Sequence[object]]) -> list[object]:
    """Return the plain constants that an expression may stand for, in the order of the text.

    It may be a constant, a tuple, list, set or dict of constants (of a dict, the keys count), a name in ``named``, or
    a conditional expression of these. Any other expression has none.
    """
    if isinstance(node, ast.Constant):
        return [node.value] if is_plain(node.value) else []
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return [value for item in node.elts for value in literals(item, named)]
    if isinstance(node, ast.Dict):
        return [value for item in node.keys if item is not None for value in literals(item, named)]
    if isinstance(node, ast.IfExp):
        return [*literals(node.body, named), *literals(node.orelse, named)]
    return list(named.get(node.id, ())) if isinstance(node, ast.Name) else []


def assignments(statements: Iterable[ast.AST], *, annotated: bool = True) -> Iterator[tuple[str, ast.expr]]:
    """Yield name and value of each statement ``name = value`` with a single target.

    If ``annotated``, also of each statement ``name: type = value``.
    """
    for node in statements:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif annotated and isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value


def add(values: list[Any], value: object) -> None:
    """Append ``value`` unless it is in ``values``; True and 1 are two values."""
    if not any(type(value) is type(known) and value == known for known in values):
        values.append(value)
