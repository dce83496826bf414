"""The order of a resolution: the statements of the record's entry method, or a tuple that names its handlers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from codemods.reading.facts import RecordFacts
from codemods.reading.index import Definition, ModuleIndex, TreeIndex
from harness.common.errors import UsageError

_ENTRY = "__post_init__"
_FEWEST = 2


class ResolutionSlot(NamedTuple):
    """One place in the order: its number from 1, its name, where it stands.

    ``run`` is the method it calls as a whole; None for a statement of the entry method, which is ``statement``.
    """

    number: int
    name: str
    file: str
    line: int
    run: str | None = None
    statement: ast.stmt | None = None


def find_slots(index: TreeIndex, facts: RecordFacts, entry: str = _ENTRY) -> tuple[ResolutionSlot, ...]:
    """Return the slots of the tree's resolution, in order.

    Raises UsageError when the record has no method ``entry`` and no module of its package lists its handlers.
    """
    found = _from_entry(index, facts, entry) or _from_tuple(index, facts)
    if not found:
        raise UsageError(
            f"{facts.record.name} has no method {entry!r}, and no tuple of its package lists its handlers: "
            "name the method that calls them"
        )
    return found


def _from_entry(index: TreeIndex, facts: RecordFacts, entry: str) -> tuple[ResolutionSlot, ...]:
    for place in sorted(facts.classes, key=lambda place: place != facts.record):
        module = index.module(place.file)
        function = module.functions.get(f"{place.name}.{entry}") if module else None
        if function is not None:
            statements = [item for item in function.body if not _is_nothing(item)]
            return tuple(
                ResolutionSlot(number, _name(item, entry), place.file, item.lineno, None, item)
                for number, item in enumerate(statements, 1)
            )
    return ()


def entry_place(index: TreeIndex, facts: RecordFacts, entry: str = _ENTRY) -> Definition | None:
    """Return where the entry method is defined, or None."""
    for place in sorted(facts.classes, key=lambda place: place != facts.record):
        module = index.module(place.file)
        if module and f"{place.name}.{entry}" in module.functions:
            return Definition(place.file, f"{place.name}.{entry}")
    return None


def _is_nothing(item: ast.stmt) -> bool:
    return isinstance(item, (ast.Import, ast.ImportFrom)) or (
        isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)
    )


def _name(item: ast.stmt, entry: str) -> str:
    if isinstance(item, ast.Expr) and isinstance(item.value, ast.Call):
        func = item.value.func
        if isinstance(func, ast.Attribute):
            return func.attr
        if isinstance(func, ast.Name) and func.id != "declare":
            return func.id
    return f"{entry}:{item.lineno}"


def _from_tuple(index: TreeIndex, facts: RecordFacts) -> tuple[ResolutionSlot, ...]:
    """Return the slots of the first module-level tuple that names methods of the record."""
    package = facts.record.file.partition("/")[0] + "/"
    name = facts.record.name.encode()
    for path in index.tree.names():
        if not path.startswith(package) or name not in index.tree.read(path):
            continue
        module = index.module(path)
        for statement in module.tree.body if module else ():
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, ast.Tuple):
                assert module is not None
                slots = tuple(_in_tuple(module, statement.value, facts))
                if len(slots) >= _FEWEST:
                    return slots
    return ()


def _in_tuple(module: ModuleIndex, value: ast.Tuple, facts: RecordFacts) -> Iterator[ResolutionSlot]:
    number = 0
    for element in value.elts:
        methods = [
            node.attr
            for node in ast.walk(element)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == facts.record.name
        ]
        if methods:
            number += 1
            texts = [
                str(node.value)
                for node in ast.walk(element)
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            ]
            yield ResolutionSlot(number, texts[0] if texts else methods[0], module.path, element.lineno, methods[0])
