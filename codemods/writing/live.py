"""Whether a local name may still be read: what a region binds can only move with it when nothing after it looks."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Literal

_Fate = Literal["read", "bound", "through"]


def is_read(name: str, later: Iterable[Sequence[ast.stmt]]) -> bool:
    """Return whether ``name`` may be read in the blocks ``later``, which run one after the other.

    Whatever is not plain (functions inside, patterns, what a ``try`` leads to) counts as a read where it mentions it.
    """
    for block in later:
        fate = _block(block, name)
        if fate != "through":
            return fate == "read"
    return False


def is_bound_first(name: str, body: Sequence[ast.stmt]) -> bool:
    """Return whether ``body`` binds ``name`` before anything in it could read it."""
    return _block(body, name) == "bound"


def certainly_bound(statement: ast.stmt) -> frozenset[str]:
    """Return the locals that a statement is certain to bind."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return frozenset((alias.asname or alias.name).partition(".")[0] for alias in statement.names)
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    return frozenset(
        node.id
        for target in targets
        for node in ast.walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )


def _loads(node: ast.AST | None, name: str) -> bool:
    return node is not None and any(
        isinstance(item, ast.Name) and item.id == name and not isinstance(item.ctx, ast.Store)
        for item in ast.walk(node)
    )


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(item, ast.Name) and item.id == name for item in ast.walk(node))


def _block(body: Sequence[ast.stmt], name: str) -> _Fate:
    for statement in body:
        fate = _statement(statement, name)
        if fate != "through":
            return fate
    return "through"


def _statement(node: ast.stmt, name: str) -> _Fate:
    if isinstance(node, ast.If):
        if _loads(node.test, name):
            return "read"
        return _either(_block(node.body, name), _block(node.orelse, name))
    if isinstance(node, (ast.For, ast.While)):
        head = node.iter if isinstance(node, ast.For) else node.test
        if _loads(head, name) or "read" in (_block(node.body, name), _block(node.orelse, name)):
            return "read"
        return "through"
    if isinstance(node, (ast.Return, ast.Raise)):
        return "read" if _loads(node, name) else "bound"
    if isinstance(node, ast.AugAssign):
        return "read" if _mentions(node, name) else "through"
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Import, ast.ImportFrom, ast.Assert, ast.Pass)):
        if _loads(node, name):
            return "read"
        return "bound" if name in certainly_bound(node) else "through"
    return "read" if _mentions(node, name) else "through"


def _either(first: _Fate, second: _Fate) -> _Fate:
    if "read" in (first, second):
        return "read"
    return "bound" if first == second == "bound" else "through"
