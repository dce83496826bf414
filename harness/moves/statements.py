"""One function's text, cut down to what decides a field: the writes, what guards them, and what they are made of."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final, NamedTuple, TypeGuard

Function = ast.FunctionDef | ast.AsyncFunctionDef

_LEAVES: Final = (ast.Return, ast.Continue, ast.Break)
_IMPORTS: Final = (ast.Import, ast.ImportFrom)
_BLOCKS: Final = ("body", "handlers", "orelse", "finalbody", "cases")
_COMPOUND: Final = (
    *(ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith),
    *(ast.Try, ast.TryStar, ast.Match, ast.ExceptHandler, ast.match_case),
)


class Line(NamedTuple):
    """One statement of a cut, or the head of a compound one: how deep it stands, its normal form, its line."""

    depth: int
    text: str
    number: int


class Part(NamedTuple):
    """What a statement says in its own right: its normal form, and names in it.

    ``mentions`` are those read and all attributes, ``stores`` those assigned, ``changes`` those of which an item or
    an attribute is assigned or a method called as a statement.
    """

    text: str
    mentions: frozenset[str]
    stores: frozenset[str]
    changes: frozenset[str]


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a function or class but for what documents it."""
    first = body[0] if body else None
    return body[1:] if isinstance(first, ast.Expr) and is_text(first.value) else body


def is_text(node: ast.AST) -> TypeGuard[ast.Constant]:
    """Whether a node is a literal text."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def mentioned(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return every name that is read under ``nodes``, and every attribute."""
    return frozenset(
        node.attr if isinstance(node, ast.Attribute) else node.id
        for root in nodes
        for node in ast.walk(root)
        if isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    )


class Cutter:
    """Cuts functions down to one field after the other.

    ``written`` maps a node (by its id) to the field that is written there.
    """

    def __init__(self, written: Mapping[int, str]) -> None:
        self._written = written
        self._fields: dict[int, frozenset[str]] = {}
        self._parts: dict[tuple[int, str], Part] = {}
        self._inside: dict[int, list[tuple[str, ast.AST]]] = {}
        self._names: dict[int, tuple[frozenset[str], frozenset[str]]] = {}

    def names_of(self, function: Function) -> tuple[frozenset[str], frozenset[str]]:
        """Return the names of a function's parameters, and those that its statements bind."""
        found = self._names.get(id(function))
        if found is None:
            given = frozenset(argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg))
            bound = frozenset(name for statement in function.body for name in _bound(statement))
            found = self._names[id(function)] = given, bound
        return found

    def inside(self, statement: ast.AST) -> list[tuple[str, ast.AST]]:
        """Return what stands in a compound statement, each with its block; a nested function is one statement."""
        found = self._inside.get(id(statement))
        if found is None:
            blocks = _BLOCKS if isinstance(statement, _COMPOUND) else ()
            found = [(name, child) for name in blocks for child in getattr(statement, name, None) or []]
            self._inside[id(statement)] = found
        return found

    def fields_of(self, statement: ast.AST) -> frozenset[str]:
        """Return the fields that a statement writes in its own right."""
        found = self._fields.get(id(statement))
        if found is None:
            nodes = (node for head in _heads(statement) for node in ast.walk(head))
            found = frozenset(self._written[id(node)] for node in nodes if id(node) in self._written)
            self._fields[id(statement)] = found
        return found

    def part(self, statement: ast.AST, field: str) -> Part:
        """Return what ``statement`` says of ``field``: entries and keywords of other fields are not in it."""
        others = bool(self.fields_of(statement) - {field})
        key = id(statement), field if others else ""
        found = self._parts.get(key)
        if found is None:
            heads = _heads(statement)
            if others:
                heads = [self._without_others(head, field) for head in heads]
            found = Part(
                text=type(statement).__name__ + "".join(map(ast.dump, heads)),
                mentions=mentioned(heads),
                stores=frozenset(name for head in heads for name in _bound(head)),
                changes=frozenset(name for head in heads for name in _changed(head)),
            )
            self._parts[key] = found
        return found

    def _without_others(self, node: Any, field: str) -> Any:
        """Return a copy of an expression or a simple statement without what it declares of other fields."""
        if isinstance(node, list):
            return [self._without_others(item, field) for item in node]
        if not isinstance(node, ast.AST):
            return node
        made: Any = copy.copy(node)
        for name, value in ast.iter_fields(node):
            if name == "keywords":
                value = [word for word in value if self._written.get(id(word.value), field) == field]
            setattr(made, name, self._without_others(value, field))
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            kept = [pair for pair in pairs if self._written.get(id(pair[1]), field) == field]
            made.keys = [self._without_others(key, field) for key, _ in kept]
            made.values = [self._without_others(value, field) for _, value in kept]
        return made

    def cut(self, function: Function, field: str, leads: AbstractSet[str]) -> tuple[list[Line], frozenset[str]]:
        """Return what of ``function`` decides ``field``, and every name it mentions.

        Kept are the statements that write the field, those that mention a name that ``leads`` to a write of it,
        those that leave the function or a loop early, those that make the local values of all these, and around each
        the conditions it stands under. What only writes other fields, logs or refuses is left out.
        """
        heads = [*function.decorator_list, function.args]
        lines = [Line(0, "".join(map(ast.dump, heads)), function.lineno)]
        mentions = mentioned(heads)
        cut = _Cut(self, function, field, leads)
        for depth, block, statement in cut.kept():
            part = self.part(statement, field)
            text = cut.imported(statement) if isinstance(statement, _IMPORTS) else part.text
            lines.append(Line(depth, f"{block} {text}", getattr(statement, "lineno", lines[-1].number)))
            mentions |= part.mentions
        return lines, mentions


class _Cut:
    """One cut under way."""

    def __init__(self, cutter: Cutter, function: Function, field: str, leads: AbstractSet[str]) -> None:
        self._cutter = cutter
        self._body = [("body", statement) for statement in without_docstring(function.body)]
        self._field = field
        self._leads = leads
        self._given, self._assigned = cutter.names_of(function)
        self._kept: set[int] = set()
        self._needed: set[str] = set()

    def kept(self) -> Iterator[tuple[int, str, ast.AST]]:
        """Yield the kept statements in the order of the text: how deep, in which block of the one around, and it."""
        while True:
            before = len(self._needed), len(self._kept)
            for _, statement in self._body:
                self._visit(statement)
            if before == (len(self._needed), len(self._kept)):
                break
        yield from self._walk(self._body, 1)

    def imported(self, statement: ast.Import | ast.ImportFrom) -> str:
        """Return an import in normal form, with only the names that the cut needs."""
        names = [alias for alias in statement.names if not self._needed.isdisjoint(_bound(alias))]
        return f"import {getattr(statement, 'module', '')} {''.join(map(ast.dump, names))}"

    def _visit(self, statement: ast.AST) -> bool:
        inside = [self._visit(child) for _, child in self._cutter.inside(statement)]
        part = self._cutter.part(statement, self._field)
        if not any(inside) and not self._decides(statement, part):
            return False
        self._kept.add(id(statement))
        self._needed |= part.mentions & self._assigned
        return True

    def _decides(self, statement: ast.AST, part: Part) -> bool:
        fields = self._cutter.fields_of(statement)
        if isinstance(statement, _LEAVES) or self._field in fields:
            return True
        if part.stores & self._needed:
            return True
        if not self._leads.isdisjoint(part.mentions):
            return True
        # ``found.append(x)``, and ``found[key] = x`` where the key is no other field. What is done to a parameter
        # is a write, or none of the field's.
        return not fields and bool(part.changes & self._needed - self._given)

    def _walk(self, statements: Iterable[tuple[str, ast.AST]], depth: int) -> Iterator[tuple[int, str, ast.AST]]:
        for block, statement in statements:
            if id(statement) in self._kept:
                yield depth, block, statement
                yield from self._walk(self._cutter.inside(statement), depth + 1)


def _heads(statement: ast.AST) -> list[ast.AST]:
    """Return what a statement consists of besides the statements in it: a simple one of itself."""
    if not isinstance(statement, _COMPOUND):
        return [statement]
    heads = []
    for name, value in ast.iter_fields(statement):
        if name not in _BLOCKS:
            heads += [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, ast.AST)]
    return heads


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that are bound under ``node``: by an assignment, an import or a definition."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id
        elif isinstance(inner, ast.alias):
            yield (inner.asname or inner.name).partition(".")[0]
        elif isinstance(inner, Function | ast.ClassDef):
            yield inner.name


def _changed(node: ast.AST) -> Iterator[str]:
    """Yield the names of which an item or attribute is assigned, or a method called as a statement."""
    targets: list[ast.AST] = [
        inner
        for inner in ast.walk(node)
        if isinstance(inner, ast.Attribute | ast.Subscript) and isinstance(inner.ctx, ast.Store | ast.Del)
    ]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        targets.append(node.value.func)
    for target in targets:
        while isinstance(target, ast.Attribute | ast.Subscript):
            target = target.value
        if isinstance(target, ast.Name):
            yield target.id
