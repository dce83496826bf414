"""Which expressions of a file, besides names, hold the process's record: calls of getters, and what a class keeps."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TypeGuard

from codemods.reading.facts import RecordFacts
from codemods.reading.index import ModuleIndex, dotted_name
from codemods.reading.scopes import record_scopes


class Holders:
    """``getters`` are local names of functions that return the record.

    ``kept`` are (class, attribute) where every assignment in the class gives ``self.attribute`` the record;
    ``attributes`` are the attributes' names that are looked at.
    """

    def __init__(self, module: ModuleIndex, facts: RecordFacts, attributes: Collection[str]) -> None:
        own = dotted_name(module.path)
        self.getters = {name for name, found in module.imports.items() if found in facts.getters} | {
            name for name in module.functions if (own, name) in facts.getters
        }
        self._attributes = frozenset(attributes)
        assigned: set[tuple[str, str]] = set()
        mentioned: set[tuple[str, str]] = set()
        unknown: set[tuple[str, str]] = set()
        scopes = record_scopes(module, facts)
        for owner in ast.walk(module.tree):
            if not isinstance(owner, ast.ClassDef):
                continue
            for function in (
                item for item in owner.body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))
            ):
                mentioned |= {(owner.name, node.attr) for node in ast.walk(function) if self._is_ours(node)}
                for target, value in _assignments(function):
                    if not self._is_ours(target):
                        continue
                    key = (owner.name, target.attr)
                    is_record = (
                        isinstance(value, ast.Name) and value.id in scopes[function].records
                    ) or self._is_getter(value)
                    (assigned if is_record else unknown).add(key)
        self.kept = assigned - unknown
        self._all_kept = mentioned <= self.kept

    def gives_record(self, value: ast.expr) -> bool:
        """Return whether ``value`` is the record, in whatever class of the file it stands."""
        return self._is_getter(value) or (self._is_ours(value) and self._all_kept)

    def _is_getter(self, value: ast.expr | None) -> bool:
        return (
            isinstance(value, ast.Call)
            and not value.args
            and not value.keywords
            and isinstance(value.func, ast.Name)
            and value.func.id in self.getters
        )

    def _is_ours(self, node: ast.AST | None) -> TypeGuard[ast.Attribute]:
        return (
            isinstance(node, ast.Attribute)
            and node.attr in self._attributes
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        )


def _assignments(function: ast.AST) -> Iterator[tuple[ast.Attribute, ast.expr | None]]:
    """Yield each attribute that is assigned, with the value where it is plainly given one."""
    plain: dict[ast.expr, ast.expr | None] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            plain.update((target, node.value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign):
            plain[node.target] = node.value
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield node, plain.get(node)
