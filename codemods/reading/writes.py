"""Counts how the fields of a record are written: by assignment, by a declaration in place, or in a pass.

Counted with `ast` over the files of the resolution: those of the record's classes and of the functions that the
resolution hands the record to.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from typing import Literal, NamedTuple

from codemods.reading.facts import RecordFacts
from codemods.reading.index import ModuleIndex, Scope, TreeIndex
from codemods.reading.scopes import ScopeNames, record_scopes
from codemods.runtime.names import DECLARE

WrittenAs = Literal["imperative", "recorded", "lifted"]


class WriteSite(NamedTuple):
    """One write of one field: where it stands, and how it is written."""

    file: str
    line: int
    function: str
    field: str
    kind: WrittenAs


def write_sites(index: TreeIndex, facts: RecordFacts, fields: Collection[str]) -> list[WriteSite]:
    """Return the writes of ``fields``, file by file, in the order of the text."""
    wanted = frozenset(fields)
    paths = {place.file for place in (*facts.classes, *facts.passed)} - {facts.runtime_file}
    found: list[WriteSite] = []
    for path in sorted(paths):
        module = index.module(path)
        if module is not None:
            found += sorted(_of_module(module, facts, wanted), key=lambda site: (site.line, site.field))
    return found


def counted(sites: Iterable[WriteSite], kind: WrittenAs, fields: Collection[str] | None = None) -> int:
    """Return how many of ``sites`` are of ``kind``, and of one of ``fields`` where they are given."""
    return sum(site.kind == kind and (fields is None or site.field in fields) for site in sites)


def _of_module(module: ModuleIndex, facts: RecordFacts, fields: frozenset[str]) -> Iterator[WriteSite]:
    for node, scope in record_scopes(module, facts).items():
        parameters = [item.arg for item in (*node.args.posonlyargs, *node.args.args)]
        for item in _own_nodes(node):
            for field, kind in _writes(item, scope, parameters[:1]):
                if field in fields:
                    yield WriteSite(module.path, item.lineno, scope.source, field, kind)


def _own_nodes(node: Scope) -> Iterator[ast.stmt | ast.expr]:
    """Yield what a function itself holds: functions inside are scopes of their own."""
    waiting: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
    while waiting:
        item = waiting.pop()
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(item, (ast.stmt, ast.expr)):
            yield item
        waiting += ast.iter_child_nodes(item)


def _writes(node: ast.AST, scope: ScopeNames, first: list[str]) -> Iterator[tuple[str, WrittenAs]]:
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        if _is_one_of(node.value, scope.records):
            yield node.attr, "imperative"
    elif isinstance(node, ast.Call):
        yield from _called(node, scope, first)


def _called(node: ast.Call, scope: ScopeNames, first: list[str]) -> Iterator[tuple[str, WrittenAs]]:
    func, given = node.func, node.args
    if isinstance(func, ast.Name) and given and _is_one_of(given[0], scope.records):
        if func.id == "setattr" and len(given) == 3 and isinstance(given[1], ast.Constant):
            yield str(given[1].value), "imperative"
        elif func.id.lstrip("_") == DECLARE:
            yield from ((name, "recorded") for name in _keywords(node))
    elif isinstance(func, ast.Attribute) and func.attr == DECLARE and _is_one_of(func.value, first):
        # A pass and a provider are given a view and declare through it.
        yield from ((name, "lifted") for name in _keywords(node))


def _keywords(node: ast.Call) -> Iterator[str]:
    for keyword in node.keywords:
        if keyword.arg is not None:
            yield keyword.arg
        elif isinstance(keyword.value, ast.Dict):
            yield from (str(key.value) for key in keyword.value.keys if isinstance(key, ast.Constant))


def _is_one_of(node: ast.expr, names: Collection[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names
