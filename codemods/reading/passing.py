"""Which functions the resolution hands the record to, followed from the record's own methods."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from codemods.reading.facts import RecordFacts
from codemods.reading.index import Definition, Function, TreeIndex
from codemods.reading.scopes import ScopeNames, record_scopes
from codemods.runtime.names import RUNS_PASSES


def passed_parameters(index: TreeIndex, facts: RecordFacts) -> dict[Definition, frozenset[str]]:
    """Return the parameters that hold a record because a method, or a function it calls, passes one.

    Only names that resolve to a function of the tree are followed.
    """
    passed: dict[Definition, frozenset[str]] = {}
    waiting = sorted({place.file for place in facts.classes})
    while waiting:
        path = waiting.pop()
        grown = set()
        for place, names in _passed_from(index, path, replace(facts, passed=passed)):
            if not names <= passed.get(place, frozenset()):
                passed[place] = passed.get(place, frozenset()) | names
                grown.add(place.file)
        waiting += sorted(grown - set(waiting))
    return passed


def _passed_from(index: TreeIndex, path: str, facts: RecordFacts) -> list[tuple[Definition, frozenset[str]]]:
    module = index.module(path)
    if module is None:
        return []
    found: list[tuple[Definition, frozenset[str]]] = []
    for node, scope in record_scopes(module, facts).items():
        for call in ast.walk(node):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
                continue
            if not _holding(call, scope):
                continue
            if call.func.id.lstrip("_") in RUNS_PASSES:
                found += _views(index, path, call)
                continue
            place, function = _function(index, path, call.func.id)
            if function is not None and place is not None:
                names = frozenset(parameters_given(call, function, scope.records))
                found.append((place, names))
    return found


def _function(index: TreeIndex, path: str, name: str) -> tuple[Definition | None, Function | None]:
    place = index.resolve(path, name)
    target = index.module(place.file) if place else None
    return place, target.functions.get(place.name) if target and place else None


def _views(index: TreeIndex, path: str, call: ast.Call) -> Iterator[tuple[Definition, frozenset[str]]]:
    """Yield the first parameter of each pass that is run: a view of the record."""
    for name in passes_run(call):
        place, function = _function(index, path, name)
        if function is not None and place is not None:
            yield place, frozenset(item.arg for item in function.args.args[:1])


def _holding(call: ast.Call, scope: ScopeNames) -> bool:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(isinstance(item, ast.Name) and item.id in scope.records for item in given)


def passes_run(node: ast.Call) -> list[str]:
    """Return the names of the passes that a call of ``run_pass`` or ``run_provider`` runs, or chooses from."""
    place = RUNS_PASSES.index(node.func.id.lstrip("_")) + 1 if isinstance(node.func, ast.Name) else 0
    given = node.args[place] if 0 < place < len(node.args) else None
    if isinstance(given, ast.Tuple):
        return [ast.unparse(item) for item in given.elts]
    return [ast.unparse(given)] if given is not None else []


def parameters_given(call: ast.Call, function: Function, records: frozenset[str]) -> list[str]:
    """Return the parameters of ``function`` that ``call`` gives one of the names ``records``."""
    positional = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
    every = {*positional, *(item.arg for item in function.args.kwonlyargs)}
    found = []
    for place, item in enumerate(call.args):
        if isinstance(item, ast.Starred):
            break
        if isinstance(item, ast.Name) and item.id in records and place < len(positional):
            found.append(positional[place])
    for keyword in call.keywords:
        if isinstance(keyword.value, ast.Name) and keyword.value.id in records and keyword.arg in every:
            found.append(keyword.arg)
    return [name for name in found if name is not None]
