"""Finds the expressions of a file, other than names, that give the process's record: getters and attributes."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TypeGuard

from codemods.reading.facts import RecordFacts
from codemods.reading.index import ModuleIndex, dotted_name
from codemods.reading.scopes import record_scopes
from harness.source.calls import given
from harness.source.nodes import FUNCTIONS
from harness.source.writes import targets_of


class Holders:
    """The getters and attributes of one file that give the record.

    ``getters`` are the local names of the functions that return the record. ``kept`` are the attributes that hold it,
    as (class, attribute): every assignment to ``self.attribute`` in the class assigns the record. Only the names in
    ``attributes`` are considered.
    """

    def __init__(self, module: ModuleIndex, facts: RecordFacts, attributes: Collection[str]) -> None:
        own = {name for module_name, name in facts.getters if module_name == dotted_name(module.path)}
        imported = {name for name, origin in module.imports.items() if origin in facts.getters}
        self.getters = imported | (own & module.functions.keys())
        self._attributes = frozenset(attributes)
        scopes = record_scopes(module, facts)
        # For each attribute, one entry per assignment: True if it assigns the record. The list is empty if the class
        # only reads the attribute; such an attribute is not kept.
        found: dict[tuple[str, str], list[bool]] = {}
        for owner in ast.walk(module.tree):
            for function in owner.body if isinstance(owner, ast.ClassDef) else ():
                if isinstance(owner, ast.ClassDef) and isinstance(function, FUNCTIONS):
                    for node in ast.walk(function):
                        if self._is_ours(node):
                            found.setdefault((owner.name, node.attr), [])
                    for target, value in _assignments(function):
                        if self._is_ours(target):
                            is_record = isinstance(value, ast.Name) and value.id in scopes[function].records
                            found[owner.name, target.attr].append(is_record or self._is_getter(value))
        self.kept = {key for key, gives in found.items() if gives and all(gives)}
        # `gives_record` does not know the class around an expression: it accepts attributes only if all are kept.
        self._all_kept = found.keys() <= self.kept

    def gives_record(self, value: ast.expr) -> bool:
        """Return whether ``value`` gives the record, in whichever class of the file it is."""
        return self._is_getter(value) or (self._is_ours(value) and self._all_kept)

    def _is_getter(self, value: ast.expr | None) -> bool:
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name) or given(value):
            return False
        return value.func.id in self.getters

    def _is_ours(self, node: ast.AST | None) -> TypeGuard[ast.Attribute]:
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return False
        return node.attr in self._attributes and node.value.id == "self"


def _assignments(function: ast.AST) -> Iterator[tuple[ast.Attribute, ast.expr | None]]:
    """Yield each attribute that is assigned; with the value if that is in a plain assignment, else with None."""
    statements = (node for node in ast.walk(function) if isinstance(node, (ast.Assign, ast.AnnAssign)))
    plain = {target.node: target.value for node in statements for target in targets_of(node)}
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield node, plain.get(node)
