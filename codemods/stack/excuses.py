"""Finds the places in a migrated tree that no case can reach, from those that are known in the original."""

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
    """Return an entry for each declaration of the migrated tree that stands for an unreachable assignment.

    The entries of ``unreachable`` are about the original: a function ``source``, a line ``code`` of it, and the
    ``reason`` why no case can reach that. If the line assigns a field, then a declaration of the same value for the
    same field, in that function or in one that it names, cannot be reached for the same reason.
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
    """Yield ``source`` and each function it names, if it declares ``wanted``, with the lines of the declaration."""
    for name, function in _reached(module, source).items():
        for node in ast.walk(function):
            if not isinstance(node, ast.Call) or _called(node) != DECLARE:
                continue
            if any((item.arg, ast.unparse(item.value)) == wanted for item in node.keywords):
                yield name, [line.strip() for line in lines[node.lineno - 1 : node.end_lineno or node.lineno]]


def _reached(module: ModuleIndex, source: str) -> dict[str, Function]:
    """Return the function called ``source`` and the functions of the module that it names, by name."""
    start = next((node for name, node in module.functions.items() if name.rpartition(".")[2] == source), None)
    if start is None:
        return {}
    named = {item.id for item in ast.walk(start) if isinstance(item, ast.Name)} & module.functions.keys()
    return {source: start} | {name: module.functions[name] for name in sorted(named)}


def _called(node: ast.Call) -> str:
    func = node.func
    name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
    return name.lstrip("_")
