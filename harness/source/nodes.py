"""Small questions about one node of Python's syntax tree: its name, its text, the statements in it."""

import ast
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeGuard

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES: Final = (*FUNCTIONS, ast.Lambda)
IMPORTS: Final = (ast.Import, ast.ImportFrom)
BLOCKS: Final = ("body", "handlers", "orelse", "finalbody", "cases")
"""The attributes of a compound statement that hold other statements."""

_COMPOUND: Final = (
    *(ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith),
    # Python 3.10, which may run a tree in its child process, has no ``except*``.
    *(ast.Try, getattr(ast, "TryStar", ast.Try), ast.Match, ast.ExceptHandler, ast.match_case),
)


def last_name(node: ast.AST | None) -> str:
    """Return the name that an expression ends in: ``c`` of ``a.b.c``, ``a`` of ``a``, else the empty string."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def decorator_name(node: ast.expr) -> str:
    """Return the last name of a decorator, with or without a call; the empty string if it has no name."""
    return last_name(node.func if isinstance(node, ast.Call) else node)


def decorator_names(node: ast.AST) -> frozenset[str]:
    """Return the last names of the decorators of a function or class; none for any other node."""
    return frozenset(decorator_name(decorator) for decorator in getattr(node, "decorator_list", ()))


def is_text(node: ast.AST | None) -> TypeGuard[ast.Constant]:
    """Return whether a node is a literal text."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def text_of(node: ast.AST | None) -> str | None:
    """Return the value of a literal text, None for any other node."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def texts_in(nodes: Iterable[ast.AST]) -> list[str]:
    """Return the values of those of ``nodes`` that are literal texts."""
    return [text for text in map(text_of, nodes) if text is not None]


def mentions(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return every name and every attribute under ``nodes``, read or written."""
    found = (last_name(node) for root in nodes for node in ast.walk(root))
    return frozenset(name for name in found if name)


def used(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return every name that is read under ``nodes``, and every attribute, read or written."""
    return frozenset(
        last_name(node)
        for root in nodes
        for node in ast.walk(root)
        if isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    )


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a function or class without its docstring."""
    first = body[0] if body else None
    return body[1:] if isinstance(first, ast.Expr) and is_text(first.value) else body


def inside(statement: ast.AST) -> list[tuple[str, ast.AST]]:
    """Return the statements directly in a compound statement, each with the name of its block.

    Handlers of ``try`` and cases of ``match`` count as statements. A function or class holds none here: its body
    runs at another time.
    """
    blocks = BLOCKS if isinstance(statement, _COMPOUND) else ()
    return [(name, child) for name in blocks for child in getattr(statement, name, None) or []]


def heads(statement: ast.AST) -> list[ast.AST]:
    """Return the parts of a compound statement that are no statements, such as its test.

    For a simple statement, return the statement itself.
    """
    if not isinstance(statement, _COMPOUND):
        return [statement]
    parts: list[Any] = [value for name, value in ast.iter_fields(statement) if name not in BLOCKS]
    flat = [item for part in parts for item in (part if isinstance(part, list) else [part])]
    return [item for item in flat if isinstance(item, ast.AST)]


def in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes under ``node`` in the order in which they run: an assigned value before its targets.

    Functions inside are left out, because they run only when they are called.
    """
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        children.sort(key=lambda child: child is not node.value)
    for child in children:
        if not isinstance(child, FUNCTIONS):
            yield child
            yield from in_order(child)


def own_nodes(scope: Scope) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body, in no order; functions and lambdas inside it are left out."""
    waiting: list[ast.AST] = list(scope.body) if isinstance(scope.body, list) else [scope.body]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, SCOPES):
            yield node
            waiting += ast.iter_child_nodes(node)
