"""Carries over what is known of places that no case can reach: from the original's code to what a step made of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from codemods.reading.facts import RecordFacts
from codemods.reading.index import ModuleIndex, TreeIndex
from codemods.runtime.names import DECLARE
from harness.source.nodes import Function

_ASSIGNMENT = re.compile(r"^(?:self|server_args)\.\w+ = ")


def carried_over(
    unreachable: Sequence[Mapping[str, Any]], index: TreeIndex, facts: RecordFacts
) -> list[Mapping[str, Any]]:
    """Return the entries of ``unreachable`` that the migrated tree needs.

    Each has a function ``source``, its line ``code`` and a ``reason``. What declares the same value for the same
    field, in that function or in one that it names, is as unreachable as the assignment was.
    """
    found: list[Mapping[str, Any]] = []
    paths = sorted({place.file for place in (*facts.classes, *facts.passed)} - {facts.runtime_file})
    for known in unreachable:
        if not _ASSIGNMENT.match(known["code"]):
            continue
        assigned = ast.parse(known["code"]).body[0]
        assert isinstance(assigned, ast.Assign) and isinstance(assigned.targets[0], ast.Attribute)
        wanted = assigned.targets[0].attr, ast.unparse(assigned.value)
        for path in paths:
            module = index.module(path)
            text = index.tree.read(path).decode(errors="replace").splitlines()
            for function, lines in _declaring(module, text, known["source"], wanted) if module else ():
                found += [{**known, "source": function, "code": line} for line in lines]
    return found


def _declaring(
    module: ModuleIndex, lines: Sequence[str], source: str, wanted: tuple[str, str]
) -> Iterator[tuple[str, list[str]]]:
    """Yield each function that declares ``wanted``, reached from ``source``, with the lines of the declaration."""
    for name, function in _reached(module, source).items():
        for node in ast.walk(function):
            if not isinstance(node, ast.Call) or _called(node) != DECLARE:
                continue
            if any((item.arg, ast.unparse(item.value)) == wanted for item in node.keywords):
                yield name, [line.strip() for line in lines[node.lineno - 1 : node.end_lineno or node.lineno]]


def _reached(module: ModuleIndex, source: str) -> dict[str, Function]:
    """Return ``source`` and the top-level functions of its module that it names, by name."""
    start = next((node for name, node in module.functions.items() if name.rpartition(".")[2] == source), None)
    if start is None:
        return {}
    named = {item.id for item in ast.walk(start) if isinstance(item, ast.Name)} & module.functions.keys()
    return {source: start} | {name: module.functions[name] for name in sorted(named)}


def _called(node: ast.Call) -> str:
    func = node.func
    name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
    return name.lstrip("_")
