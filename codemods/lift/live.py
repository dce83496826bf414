"""Tells whether a local name of a handler may be read later.

A pass cannot bind a local of the handler. So statements that bind one become a pass only if nothing reads it later.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Literal, NamedTuple

# What may happen to a name first: it may be read, it is certainly bound, or neither ("through").
_Fate = Literal["read", "bound", "through"]
_Blocks = tuple[Sequence[ast.stmt], ...]


class Later(NamedTuple):
    """What may run after some statements of a function.

    ``blocks`` is what runs if nothing jumps: the rest of each block around the statements, innermost first. ``jumps``
    are the ways to skip the rest of a block, such as an exception or ``continue``; each is the blocks that run then.
    """

    blocks: _Blocks = ()
    jumps: tuple[_Blocks, ...] = ()

    def behind(self, block: Sequence[ast.stmt]) -> Later:
        """Return what may run after statements that are followed by ``block``, and then by what this describes."""
        return self._replace(blocks=(block, *self.blocks))

    def inside(self, statement: ast.stmt) -> Later:
        """Return what may run after the last statement of a block of ``statement``.

        This object describes what may run after ``statement``. In the examples below, [...] are the statements that
        might become a pass.
        """
        blocks, jumps = self.blocks, self.jumps
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            # The context manager may suppress an exception, as contextlib.suppress does:
            # "with suppress(E): [x = 1; fail()]; x = 2" may continue after the ``with`` with x == 1.
            return Later(blocks, (*jumps, blocks))
        if isinstance(statement, (ast.Try, ast.TryStar)):
            # In "try: [x = 1; fail()]; x = 2", then "except E: use(x)", the ``except`` block reads 1, although the
            # rest of the ``try`` block binds x. After an ``except`` block that does not read x, code behind the
            # ``try`` may. If an ``except`` block fails before its end, or none catches the exception, ``finally``
            # runs: that is the way with the empty block.
            caught = [handler.body for handler in statement.handlers] + ([[]] if statement.finalbody else [])
            jumps = (*jumps, *((body, statement.finalbody, *blocks) for body in caught))
            # Without an exception, ``else`` and ``finally`` run next. The whole statement stands for them here: it
            # counts as a read of every name that it mentions.
            return Later(([statement], *blocks), jumps)
        if isinstance(statement, (ast.For, ast.AsyncFor, ast.While)):
            again = ([statement], *blocks)
            # In "for ...: use(x); [x = 1]; if c: continue; x = 2", the next round reads 1 after ``continue``.
            leaps = any(isinstance(node, (ast.Continue, ast.Break)) for node in ast.walk(statement))
            return Later(again, (*jumps, again) if leaps else jumps)
        return self


def is_read(name: str, later: Later) -> bool:
    """Return whether something that runs ``later`` may read ``name``.

    A function inside, a ``match``, a ``try`` and the like are not looked into: they count as a read if they mention
    the name.
    """
    return any(
        _block([item for block in way for item in block], name) == "read" for way in (later.blocks, *later.jumps)
    )


def is_bound_first(name: str, body: Sequence[ast.stmt]) -> bool:
    """Return whether ``body`` certainly binds ``name`` before anything in it could read it."""
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
    """Return the names that ``function`` binds without an ``ast.Name``: by an import, a pattern or ``except``."""
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
        # What follows does not run, so the name's value is lost, as if it were bound anew.
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
