"""The function that declarations are lifted out of, and the questions about it that lifting needs answered."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import libcst as cst

from codemods.reading.architecture import architecture_names
from codemods.reading.facts import RecordFacts
from codemods.reading.index import Definition, ModuleIndex
from codemods.runtime.names import VIEW_OF
from codemods.writing.emit import names_in
from codemods.writing.pure import is_pure
from harness.source.nodes import Scope
from harness.source.scopes import parameters_of, times_bound


@dataclass(frozen=True)
class Handler:
    """The function ``node`` of ``module``, out of which declarations of ``fields`` are lifted.

    ``records`` are the names that hold the record in it. ``declare`` is the name of the function that it calls to
    declare. With ``force``, a region is also lifted if nothing shows that its pass will do the same.
    """

    name: str
    node: Scope
    records: Collection[str]
    fields: frozenset[str]
    module: ModuleIndex
    facts: RecordFacts
    declare: str
    force: bool = False

    @cached_property
    def locals(self) -> frozenset[str]:
        """The names that the function binds, its parameters included."""
        return frozenset(times_bound(self.node).keys() | parameters_of(self.node).keys())

    @cached_property
    def architectures(self) -> frozenset[str]:
        """The names that hold a model's architecture."""
        return architecture_names(self.node)

    def constant(self, name: str) -> Sequence[str] | None:
        """Return the strings of the collection that the module-level ``name`` holds; None if it holds none."""
        return self.facts.constants.get(Definition(self.module.path, name))

    def is_pure(self, node: ast.expr) -> bool:
        """Return whether evaluating ``node`` only gives a value: it cannot fail, and has no other effect."""
        return is_pure(cst.parse_expression(ast.unparse(node)), self.records, self.facts.fields)

    def is_record(self, node: ast.AST | None) -> bool:
        """Return whether ``node`` is a name of the record, or ``view_of`` called with one."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
            return node.func.id.lstrip("_") == VIEW_OF and self.is_record(node.args[0])
        return isinstance(node, ast.Name) and node.id in self.records

    def record_in(self, statements: Sequence[cst.CSTNode]) -> str:
        """Return the name by which ``statements`` use the record; of several, the first in alphabetical order."""
        used = {name for item in statements for name in names_in(item)}
        return next(name for name in sorted(self.records) if name in used)

    def declared(self, node: ast.AST) -> list[ast.keyword]:
        """Return the keyword arguments (field and value) if ``node`` is a call of ``declare``; else nothing."""
        if not isinstance(node, ast.Call) or not node.args or not self.is_record(node.args[0]):
            return []
        return node.keywords if isinstance(node.func, ast.Name) and node.func.id == self.declare else []

    def declares(self, body: Sequence[ast.stmt]) -> tuple[str, ...]:
        """Return the fields that statements declare, in the order of the text."""
        return tuple(
            keyword.arg
            for statement in body
            for node in ast.walk(statement)
            for keyword in self.declared(node)
            if keyword.arg is not None
        )

    def is_ours(self, declared: Sequence[str]) -> bool:
        """Return whether at least one of the fields ``declared`` is to be lifted."""
        return not self.fields.isdisjoint(declared)
