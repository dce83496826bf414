"""Which handlers do nothing, and whether they can go."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.reading.index import Definition, TreeIndex


def empty_handlers(index: TreeIndex, classes: frozenset[Definition], record: Definition) -> dict[str, str]:
    """Return the methods of the record that do nothing, by name, with what keeps them, or the empty string.

    What does not keep one: bare calls without arguments that could do something, and slots of a tuple.
    """
    found: dict[str, str] = {}
    for place in sorted(classes):
        module = index.module(place.file)
        for node in module.classes[place.name].body if module else ():
            if isinstance(node, ast.FunctionDef) and _does_nothing(node):
                found[node.name] = ""
    return {name: _kept_by(index, name, classes, record) for name in sorted(found)}


def _does_nothing(node: ast.FunctionDef) -> bool:
    plain = not node.decorator_list and not node.name.startswith("__")
    return plain and all(_is_nothing(item) for item in node.body)


def _is_nothing(item: ast.stmt) -> bool:
    return isinstance(item, ast.Pass) or (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))


def _kept_by(index: TreeIndex, name: str, classes: frozenset[Definition], record: Definition) -> str:
    word = re.compile(rb"(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)")
    definitions = 0
    for path in index.tree.names():
        if not word.search(index.tree.read(path)):
            continue
        module = index.module(path)
        if module is None:
            return f"{path} mentions it and does not parse"
        allowed = set(_bare_mentions(module.tree, name, record))
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                definitions += 1
            named = (isinstance(node, ast.Attribute) and node.attr == name) or (
                isinstance(node, ast.Name) and node.id == name
            )
            text = isinstance(node, ast.Constant) and node.value == name
            if named and node not in allowed:
                return f"{path}:{getattr(node, 'lineno', 0)} uses it otherwise than in a call by itself"
            if text and not _in_slot(module.tree, node, name, record):
                return f"{path}:{getattr(node, 'lineno', 0)} names it in a string"
    return "it is defined more than once" if definitions > 1 else ""


def _bare_mentions(tree: ast.Module, name: str, record: Definition) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            func = node.value.func
            if isinstance(func, ast.Attribute) and func.attr == name and isinstance(func.value, ast.Name):
                given = [*node.value.args, *(keyword.value for keyword in node.value.keywords)]
                if all(isinstance(item, (ast.Constant, ast.Name)) for item in given):
                    yield func
    for element in _slots(tree, name, record):
        yield from ast.walk(element)


def _slots(tree: ast.Module, name: str, record: Definition) -> Iterator[ast.expr]:
    for statement in tree.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, ast.Tuple):
            for element in statement.value.elts:
                if any(
                    isinstance(node, ast.Attribute)
                    and node.attr == name
                    and isinstance(node.value, ast.Name)
                    and node.value.id == record.name
                    for node in ast.walk(element)
                ):
                    yield element


def _in_slot(tree: ast.Module, node: ast.AST, name: str, record: Definition) -> bool:
    return any(node is item for element in _slots(tree, name, record) for item in ast.walk(element))
