"""Finds the functions that the resolution passes the record to, starting from the record's own methods."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from codemods.reading.callees import Callees, passes_run
from codemods.reading.facts import RecordFacts
from codemods.reading.index import Definition, TreeIndex
from codemods.reading.scopes import record_scopes
from codemods.runtime.names import RUNS_PASSES
from harness.source.calls import arguments_of, calls_in, given, positional


def passed_parameters(index: TreeIndex, facts: RecordFacts, callees: Callees) -> dict[Definition, frozenset[str]]:
    """Return, for each function that a method of the record calls with the record, the parameters that hold it.

    Functions that are called from these in turn are included. Only calls of functions of the tree by a plain name are
    followed; calls of methods, constructors and attributes of modules are not.
    """
    passed: dict[Definition, frozenset[str]] = {}
    # When a function is found to get the record, its file is read (again), since it may pass the record on.
    waiting = facts.files
    while waiting:
        path = waiting.pop()
        grown = set()
        for place, names in _passed_from(index, path, replace(facts, passed=passed), callees):
            if not names <= passed.get(place, frozenset()):
                passed[place] = passed.get(place, frozenset()) | names
                grown.add(place.file)
        waiting += sorted(grown - set(waiting))
    return passed


def _passed_from(
    index: TreeIndex, path: str, facts: RecordFacts, callees: Callees
) -> Iterator[tuple[Definition, frozenset[str]]]:
    for node, scope in record_scopes(index.read(path), facts).items():

        def is_record(item: ast.expr, names: frozenset[str] = scope.records) -> bool:
            return isinstance(item, ast.Name) and item.id in names

        for call in calls_in(node):
            name = call.func.id if isinstance(call.func, ast.Name) else ""
            if not any(is_record(item) for item in given(call)):
                continue
            if name.lstrip("_") in RUNS_PASSES:
                places = (index.resolve(path, text) for text in passes_run(call))
                yield from ((place, frozenset(callees.first_parameters(place))) for place in places if place)
                continue
            for callee in (callees.of(path, call.func, node, scope) or ()) if name else ():
                function = index.function(callee.place)
                if function is not None and not callee.skipped:
                    named = {*positional(function), *(item.arg for item in function.args.kwonlyargs)}
                    by_name = arguments_of(call, function).by_name.items()
                    yield callee.place, frozenset(key for key, item in by_name if is_record(item) and key in named)
