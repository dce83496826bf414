"""Which functions the resolution hands the record to, followed from the record's own methods."""

from __future__ import annotations

import ast
from dataclasses import replace

from codemods.index import Function, Place, TreeIndex
from codemods.record import RecordFacts
from codemods.scopes import ScopeNames, record_scopes, scopes_in_order


def passed_parameters(index: TreeIndex, facts: RecordFacts) -> dict[Place, frozenset[str]]:
    """Return the parameters that hold a record because a method, or a function it calls, passes one.

    Only names that resolve to a function of the tree are followed.
    """
    passed: dict[Place, frozenset[str]] = {}
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


def _passed_from(index: TreeIndex, path: str, facts: RecordFacts) -> list[tuple[Place, frozenset[str]]]:
    module = index.module(path)
    if module is None:
        return []
    scopes = record_scopes(module, facts)
    found = []
    for number, node in enumerate(scopes_in_order(module.tree)):
        for call in ast.walk(node):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
                continue
            if not _holding(call, scopes[number]):
                continue
            place = index.resolve(path, call.func.id)
            target = index.module(place.file) if place else None
            function = target.functions.get(place.name) if target and place else None
            if function is not None and place is not None:
                names = frozenset(parameters_given(call, function, scopes[number].records))
                found.append((place, names))
    return found


def _holding(call: ast.Call, scope: ScopeNames) -> bool:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(isinstance(item, ast.Name) and item.id in scope.records for item in given)


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
