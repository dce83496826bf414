"""Finds the handlers that do nothing, and the reasons why some of them cannot be removed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.reading.callees import methods_named
from codemods.reading.index import Definition, TreeIndex
from harness.source.calls import called_name, given


def empty_handlers(index: TreeIndex, classes: frozenset[Definition], record: Definition) -> dict[str, str]:
    """Return the methods of the record that do nothing, each with the reason why it cannot be removed; "" if it can.

    Two uses do not keep a method, because they are removed with it: a call that is a statement by itself and whose
    arguments are names or constants, and an element of a module-level tuple of handlers.
    """
    nodes = (item for owner in filter(None, map(index.class_at, classes)) for item in owner.body)
    found = {item.name for item in nodes if isinstance(item, ast.FunctionDef) and _does_nothing(item)}
    return {name: _kept_by(index, name, record.name) for name in sorted(found)}


def _does_nothing(node: ast.FunctionDef) -> bool:
    plain = not node.decorator_list and not node.name.startswith("__")
    return plain and all(
        isinstance(item, ast.Pass) or (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))
        for item in node.body
    )


def _kept_by(index: TreeIndex, name: str, record: str) -> str:
    """Return the reason why the method ``name`` cannot be removed, or ""."""
    word = re.compile(rb"(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)")
    definitions = 0
    for path in index.tree.names():
        if not word.search(index.tree.read(path)):
            continue
        module = index.module(path)
        if module is None:
            return f"{path} mentions it and does not parse"
        in_slots = set(_in_slots(module.tree, name, record))
        allowed = {*in_slots, *_bare_calls(module.tree, name)}
        for node in ast.walk(module.tree):
            definitions += isinstance(node, ast.FunctionDef) and node.name == name
            if isinstance(node, (ast.Name, ast.Attribute)) and node not in allowed:
                if name == (node.attr if isinstance(node, ast.Attribute) else node.id):
                    return f"{path}:{node.lineno} uses it otherwise than in a call by itself"
            elif isinstance(node, ast.Constant) and node.value == name and node not in in_slots:
                return f"{path}:{node.lineno} names it in a string"
    return "it is defined more than once" if definitions > 1 else ""


def _bare_calls(tree: ast.Module, name: str) -> Iterator[ast.AST]:
    """Yield ``object.name`` from each statement that only calls it, with names or constants as arguments."""
    for node in ast.walk(tree):
        call = node.value if called_name(node) == name and isinstance(node, ast.Expr) else None
        func = call.func if isinstance(call, ast.Call) else None
        if isinstance(call, ast.Call) and isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            yield from [func] if all(isinstance(item, (ast.Constant, ast.Name)) for item in given(call)) else []


def _in_slots(tree: ast.Module, name: str, record: str) -> Iterator[ast.AST]:
    """Yield all nodes of the elements that name the handler in tuples assigned at the top level."""
    for statement in tree.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, ast.Tuple):
            for element in statement.value.elts:
                if name in methods_named(element, record):
                    yield from ast.walk(element)
