"""Cuts a function down to what decides a field: its writes, their conditions, and what their values need."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Any, Final, NamedTuple

from harness.source.nodes import IMPORTS, Function, heads, inside, used, without_docstring
from harness.source.scopes import bound_in, parameters_of
from harness.source.writes import root_name

_LEAVING: Final = (ast.Return, ast.Continue, ast.Break)


class CutLine(NamedTuple):
    """One statement of a cut, or the head of a compound one: its depth of nesting, its normal form, and its line."""

    depth: int
    text: str
    number: int


class _Content(NamedTuple):
    """One statement, without the statements inside it: its normal form, and the names in it.

    ``mentions`` has the names that it reads, and all attributes. ``stores`` has the names that it binds. ``changes``
    has the names of the objects that it changes, by assigning an item or attribute or by calling a method as a
    statement.
    """

    text: str
    mentions: frozenset[str]
    stores: frozenset[str]
    changes: frozenset[str]


class FieldCutter:
    """Cuts functions down to one field at a time. ``written`` maps a node to the field that is written there.

    A comparison of two releases cuts each function for each field, so results that do not depend on the field are
    cached.
    """

    def __init__(self, written: Mapping[ast.AST, str]) -> None:
        self._written = written
        self.inside = cache(inside)
        self.fields_of = cache(self._fields_of)
        self.names_of = cache(_names_of)
        self._content_for = cache(self._make_content)

    def _fields_of(self, statement: ast.AST) -> frozenset[str]:
        """Return the fields that a statement writes itself, without what the statements inside it write."""
        nodes = (node for head in heads(statement) for node in ast.walk(head))
        return frozenset(self._written[node] for node in nodes if node in self._written)

    def content(self, statement: ast.AST, field: str) -> _Content:
        """Return the content of a statement, without what it declares for fields other than ``field``."""
        # A statement that writes no other field has the same content for all fields, cached under "".
        return self._content_for(statement, field if self.fields_of(statement) - {field} else "")

    def _make_content(self, statement: ast.AST, field: str) -> _Content:
        parts = heads(statement)
        if field:
            parts = [self._without_others(part, field) for part in parts]
        return _Content(
            text=type(statement).__name__ + "".join(map(ast.dump, parts)),
            mentions=used(parts),
            stores=frozenset(name for part in parts for name in bound_in(part)),
            changes=frozenset(name for part in parts for name in _changed(part)),
        )

    def _without_others(self, node: Any, field: str) -> Any:
        """Return a copy of an expression or simple statement without keywords and dict items for other fields."""
        if isinstance(node, list):
            return [self._without_others(item, field) for item in node]
        if not isinstance(node, ast.AST):
            return node
        made: Any = copy.copy(node)
        for name, value in ast.iter_fields(node):
            if name == "keywords":
                value = [word for word in value if self._written.get(word.value, field) == field]
            setattr(made, name, self._without_others(value, field))
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            kept = [pair for pair in pairs if self._written.get(pair[1], field) == field]
            made.keys, made.values = ([self._without_others(pair[side], field) for pair in kept] for side in (0, 1))
        return made

    def cut(self, function: Function, field: str, leads: AbstractSet[str]) -> tuple[list[CutLine], frozenset[str]]:
        """Return the lines of ``function`` that decide ``field``, and every name that they mention.

        These statements are kept: those that write the field; those that mention a name in ``leads``, since it leads
        to a write of the field; those that leave the function or a loop early; those that make the local values that
        all these need; and the conditions around each. What only writes other fields, logs or refuses is left out.
        """
        parts = [*function.decorator_list, function.args]
        lines = [CutLine(0, "".join(map(ast.dump, parts)), function.lineno)]
        mentions = used(parts)
        cut = _Cut(self, function, field, leads)
        for depth, block, statement in cut.kept():
            content = self.content(statement, field)
            text = cut.imported(statement) if isinstance(statement, IMPORTS) else content.text
            lines.append(CutLine(depth, f"{block} {text}", getattr(statement, "lineno", lines[-1].number)))
            mentions |= content.mentions
        return lines, mentions


class _Cut:
    """Finds which statements of one function are kept for one field, and which local names these need."""

    def __init__(self, cutter: FieldCutter, function: Function, field: str, leads: AbstractSet[str]) -> None:
        self._cutter = cutter
        self._body = [("body", statement) for statement in without_docstring(function.body)]
        self._field = field
        self._leads = leads
        self._given, self._assigned = cutter.names_of(function)
        self._kept: set[ast.AST] = set()
        self._needed: set[str] = set()

    def kept(self) -> Iterator[tuple[int, str, ast.AST]]:
        """Yield the kept statements in the order of the text, each with its depth and its block's name."""
        before = None
        # A kept statement needs names, and the statements that make these are kept too: repeat until none is added.
        while before != (before := (len(self._needed), len(self._kept))):
            for _, statement in self._body:
                self._visit(statement)
        yield from self._walk(self._body, 1)

    def imported(self, statement: ast.Import | ast.ImportFrom) -> str:
        """Return an import in normal form, with only those of its names that the cut needs."""
        names = [alias for alias in statement.names if not self._needed.isdisjoint(bound_in(alias))]
        return f"import {getattr(statement, 'module', '')} {''.join(map(ast.dump, names))}"

    def _visit(self, statement: ast.AST) -> bool:
        """Keep a statement if it, or one inside it, decides the field; return whether it is kept."""
        within = [self._visit(child) for _, child in self._cutter.inside(statement)]
        content = self._cutter.content(statement, self._field)
        if not any(within) and not self._decides(statement, content):
            return False
        self._kept.add(statement)
        self._needed |= content.mentions & self._assigned
        return True

    def _decides(self, statement: ast.AST, content: _Content) -> bool:
        """Return whether a statement is kept for what it does itself, not for a statement inside it."""
        fields = self._cutter.fields_of(statement)
        if isinstance(statement, _LEAVING) or self._field in fields or content.stores & self._needed:
            return True
        # The last condition is for ``found.append(x)``, and for ``found[key] = x`` if the key is no other field. It
        # leaves out parameters: what changes one is a known write of a field, or has nothing to do with this field.
        return not self._leads.isdisjoint(content.mentions) or (
            not fields and bool(content.changes & self._needed - self._given)
        )

    def _walk(self, statements: Iterable[tuple[str, ast.AST]], depth: int) -> Iterator[tuple[int, str, ast.AST]]:
        for block, statement in statements:
            if statement in self._kept:
                yield depth, block, statement
                yield from self._walk(self._cutter.inside(statement), depth + 1)


def _names_of(function: Function) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of a function's parameters, and those that its statements bind."""
    bound = frozenset(name for statement in function.body for name in bound_in(statement))
    return frozenset(parameters_of(function)), bound


def _changed(node: ast.AST) -> Iterator[str]:
    """Yield the names of objects that get an item or attribute assigned, or a method called as a statement."""
    targets: list[ast.AST] = [
        item
        for item in ast.walk(node)
        if isinstance(item, ast.Attribute | ast.Subscript) and not isinstance(item.ctx, ast.Load)
    ]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        targets.append(node.value.func)
    yield from (name for name in map(root_name, targets) if name)
