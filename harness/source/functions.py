"""The functions and classes of one module, each with its full name, its lines and what it is defined in."""

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .nodes import FUNCTIONS, IMPORTS, Function, inside
from .writes import binds


class Defined(NamedTuple):
    """One function or class.

    ``qualified`` is its name, after the names of the functions and classes around it. ``owner`` is the class whose
    body defines it, None if a module or a function defines it. ``is_inner`` is true if it is inside a function, at
    any depth.
    """

    node: Function | ast.ClassDef
    qualified: str
    owner: ast.ClassDef | None
    is_inner: bool

    @property
    def name(self) -> str:
        """The name in its ``def`` or ``class`` statement."""
        return self.node.name

    @property
    def first_line(self) -> int:
        """The line in which it begins: that of its first decorator, if it has one."""
        return min([self.node.lineno, *(decorator.lineno for decorator in self.node.decorator_list)])

    @property
    def last_line(self) -> int:
        """The line in which it ends."""
        return self.node.end_lineno or self.node.lineno


def defined_in(tree: ast.AST) -> list[Defined]:
    """Return all functions and classes of a module, at whatever depth, each before those inside it."""
    return list(_defined(tree, "", None, False))


def _defined(node: ast.AST, prefix: str, owner: ast.ClassDef | None, is_inner: bool) -> Iterator[Defined]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*FUNCTIONS, ast.ClassDef)):
            found = Defined(child, prefix + child.name, owner, is_inner)
            yield found
            is_class = isinstance(child, ast.ClassDef)
            inner = child if isinstance(child, ast.ClassDef) else None
            yield from _defined(child, f"{found.qualified}.", inner, is_inner or not is_class)
        elif not isinstance(child, ast.expr):
            # Statements such as ``if`` may hold the methods of a class; an expression defines nothing by name.
            yield from _defined(child, prefix, owner, is_inner)


class FunctionLines(NamedTuple):
    """The full name of a function, and its first and last line, decorators included.

    The name is "" for code that runs at import.
    """

    name: str
    first: int
    last: int


def function_at(found: Iterable[Defined], line: int) -> FunctionLines:
    """Return the innermost function that has the line ``line``; ``found`` is all that its file defines."""
    functions = (one for one in found if isinstance(one.node, FUNCTIONS))
    lines = (FunctionLines(one.qualified, one.first_line, one.last_line) for one in functions)
    # Of all functions around a line, the innermost begins last.
    around = (one for one in lines if one.first <= line <= one.last)
    return max(around, key=lambda one: one.first, default=FunctionLines("", 1, 0))


def defined_names(statement: ast.AST) -> list[str]:
    """Return the names that a statement of a module or class defines, also inside ``if``, ``try`` or ``with``."""
    if isinstance(statement, (ast.If, ast.Try, ast.With, ast.ExceptHandler)):
        return [name for _, child in inside(statement) for name in defined_names(child)]
    if isinstance(statement, ast.AnnAssign):
        return [statement.target.id] if isinstance(statement.target, ast.Name) else []
    return list(binds(statement)) if isinstance(statement, (*FUNCTIONS, ast.ClassDef, ast.Assign, *IMPORTS)) else []


def needed(tree: ast.Module, names: Iterable[str], answered: Iterable[str] = ()) -> list[ast.stmt]:
    """Return the statements of a module that define ``names``, then the names that these statements use, and so on.

    An ``answered`` name needs no definition, since a case gives its value. Imports from ``__future__`` are always
    among the statements, because they say how the others are compiled.
    """
    defining: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in defined_names(statement):
            defining.setdefault(name, []).append(statement)
    kept, wanted, done = set[ast.stmt](), list(names), set(answered)
    while wanted:
        name = wanted.pop()
        if name not in done:
            done.add(name)
            fresh = [statement for statement in defining.get(name, ()) if statement not in kept]
            kept.update(fresh)
            nodes = (node for statement in fresh for node in ast.walk(statement))
            wanted += [node.id for node in nodes if isinstance(node, ast.Name)]
    return [statement for statement in tree.body if statement in kept or _is_future(statement)]


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
