"""Whether a local name may still be read: a pass cannot bind a local of the handler, so nothing may read it later."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Literal, NamedTuple

_Fate = Literal["read", "bound", "through"]
_Blocks = tuple[Sequence[ast.stmt], ...]


class Later(NamedTuple):
    """What may run after some statements of a function.

    ``blocks`` is the plain way on: the rest of each block around the statements, innermost first. ``jumps`` are the
    ways that skip the rest of a block, each as the blocks that run then.
    """

    blocks: _Blocks = ()
    jumps: tuple[_Blocks, ...] = ()

    def behind(self, block: Sequence[ast.stmt]) -> Later:
        """Return what may run after statements that ``block`` follows."""
        return self._replace(blocks=(block, *self.blocks))

    def inside(self, statement: ast.stmt) -> Later:
        """Return what may run after statements at the end of a block of ``statement``, where this runs after it."""
        blocks, jumps = self.blocks, self.jumps
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            # The manager may suppress an exception, as contextlib.suppress does:
            # "with suppress(E): [x = 1; fail()]; x = 2" goes on after the block with x == 1.
            return Later(blocks, (*jumps, blocks))
        if isinstance(statement, (ast.Try, ast.TryStar)):
            # "try: [x = 1; fail()]; x = 2" followed by "except E: use(x)": the handler reads 1, although the rest of
            # the block binds x. After a handler that does not read x, what follows the try may. A handler that fails
            # leads to "finally" from its middle.
            caught = [handler.body for handler in statement.handlers] + ([[]] if statement.finalbody else [])
            jumps = (*jumps, *((body, statement.finalbody, *blocks) for body in caught))
            return Later(([statement], *blocks), jumps)
        if isinstance(statement, (ast.For, ast.AsyncFor, ast.While)):
            again = ([statement], *blocks)
            # "for ...: use(x); [x = 1]; if c: continue; x = 2": the next round reads 1.
            leaps = any(isinstance(node, (ast.Continue, ast.Break)) for node in ast.walk(statement))
            return Later(again, (*jumps, again) if leaps else jumps)
        return self


def is_read(name: str, later: Later) -> bool:
    """Return whether ``name`` may be read in what runs ``later``.

    Whatever is not plain (functions inside, patterns, a ``try``) counts as a read where it mentions the name.
    """
    return any(
        _block([item for block in way for item in block], name) == "read" for way in (later.blocks, *later.jumps)
    )


def is_bound_first(name: str, body: Sequence[ast.stmt]) -> bool:
    """Return whether ``body`` binds ``name`` before anything in it could read it."""
    return _block(body, name) == "bound"


def may_unbind(function: ast.AST) -> frozenset[str]:
    """Return the names that something in ``function`` deletes: by ``del``, or at the end of ``except E as name``."""
    found: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
            found.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
    return frozenset(found)


def bound_unnamed(function: ast.AST) -> frozenset[str]:
    """Return what ``function`` binds without a name node: by an import, a pattern or ``except E as name``."""
    found: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
    return frozenset(found)


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
