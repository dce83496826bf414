"""Finds the reads and writes of the record's fields in a function and those it calls, in the order of evaluation.

Nothing is run. It is assumed that both branches of a condition run, one after the other, that the body of a loop runs
once, and that no function returns early.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from codemods.reading.callees import Callees, passes_run
from codemods.reading.facts import Effects, RecordFacts
from codemods.reading.index import Definition, TreeIndex
from codemods.reading.scopes import NOTHING, ScopeNames, record_scopes
from codemods.runtime.names import DECLARE, GIVE_RECORD, RUNS_PASSES
from harness.source.calls import given
from harness.source.nodes import Function, Scope, decorator_names
from harness.source.writes import targets_of

AccessKind = Literal["read", "write", "handed"]
_BY_NAME: dict[str, AccessKind] = {"getattr": "read", "hasattr": "read", "setattr": "write", "delattr": "write"}
_PROPERTIES = {"property", "cached_property"}


class Access(NamedTuple):
    """One read or write of a field, or a place that passes the record to something that is not followed."""

    kind: AccessKind
    field: str
    """The field; if ``kind`` is ``handed``, the text of what gets the record."""
    function: str
    file: str
    line: int
    slot: int = 0
    """The number of the slot in which it happens."""
    guards: tuple[str, ...] = ()
    """The conditions around it and around the calls that lead to it."""
    needs: frozenset[str] = frozenset()
    """The fields that the guards read and, for a write, those that its value reads."""
    through: tuple[str, ...] = ()
    """The functions whose calls lead to ``function``, outermost first."""


class _Frame(NamedTuple):
    """What the walk knows in the function that it is in.

    ``scope`` are the names that hold the record; ``local`` are the inner functions defined so far, by name. See
    `Access` for the others.
    """

    path: str
    function: str
    node: Function
    scope: ScopeNames
    guards: tuple[str, ...]
    needs: frozenset[str]
    through: tuple[str, ...]
    local: dict[str, Function]


class AccessReader:
    """Finds the accesses in functions of one tree. Attributes that methods assign count as fields."""

    def __init__(self, index: TreeIndex, facts: RecordFacts, callees: Callees) -> None:
        self._index = index
        self._facts = facts
        self._callees = callees
        self._fields = facts.fields.keys() | facts.attributes
        self._scopes: dict[str, dict[Scope, ScopeNames]] = {}
        self._running: list[tuple[str, str]] = []

    def statement(self, place: Definition, statement: ast.stmt) -> list[Access]:
        """Return the accesses in one statement of the function at ``place``."""
        frame = self._frame(place)
        return list(self._walk(statement, frame)) if frame else []

    def function(self, place: Definition | None) -> list[Access]:
        """Return the accesses in the function at ``place``; none if there is no such function."""
        return list(self._into(place, None)) if place else []

    # -- functions

    def _scope(self, path: str, node: Scope) -> ScopeNames:
        if path not in self._scopes:
            self._scopes[path] = record_scopes(self._index.read(path), self._facts)
        return self._scopes[path].get(node, NOTHING)

    def _frame(self, place: Definition, around: _Frame | None = None) -> _Frame | None:
        node = self._index.function(place)
        if node is None:
            return None
        scope = self._scope(place.file, node)
        if around is None:
            return _Frame(place.file, place.name, node, scope, (), frozenset(), (), {})
        through = (*around.through, around.function)
        return _Frame(place.file, place.name, node, scope, around.guards, around.needs, through, {})

    def _into(self, place: Definition, around: _Frame | None) -> Iterator[Access]:
        frame = self._frame(place, around)
        if frame is not None:
            yield from self._body(frame.node, frame)

    def _local(self, node: Function, frame: _Frame) -> Iterator[Access]:
        name, through = f"{frame.function}.{node.name}", (*frame.through, frame.function)
        yield from self._body(
            node, frame._replace(function=name, scope=self._scope(frame.path, node), through=through)
        )

    def _body(self, node: Function, frame: _Frame) -> Iterator[Access]:
        # A function that calls itself, directly or through others, is not walked again in the inner call.
        key = (frame.path, frame.function)
        if key not in self._running:
            self._running.append(key)
            try:
                yield from self._all(node.body, frame)
            finally:
                self._running.pop()

    # -- the walk

    def _walk(self, node: ast.AST | None, frame: _Frame) -> Iterator[Access]:
        if node is not None:
            special = getattr(self, f"_walk_{type(node).__name__}", None)
            yield from special(node, frame) if special else self._all(ast.iter_child_nodes(node), frame)

    def _all(self, nodes: Iterable[ast.AST | None], frame: _Frame) -> Iterator[Access]:
        for node in nodes:
            yield from self._walk(node, frame)

    def _access(
        self, kind: AccessKind, field: str, node: ast.expr, frame: _Frame, needs: frozenset[str] = frozenset()
    ) -> Access:
        where = (frame.function, frame.path, node.lineno, 0)
        return Access(kind, field, *where, frame.guards, frame.needs | needs, frame.through)

    def _is_record(self, node: ast.AST | None, frame: _Frame) -> bool:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
            return node.func.id.lstrip("_") in GIVE_RECORD and self._is_record(node.args[0], frame)
        return isinstance(node, ast.Name) and node.id in frame.scope.records

    def _field(self, node: ast.AST, frame: _Frame) -> str:
        """Return the field if ``node`` is an attribute of the record that counts as one, else ""."""
        is_ours = isinstance(node, ast.Attribute) and node.attr in self._fields and self._is_record(node.value, frame)
        return node.attr if is_ours and isinstance(node, ast.Attribute) else ""

    def _fields_in(self, nodes: Iterable[ast.AST | None], frame: _Frame) -> frozenset[str]:
        """Return the fields that the expressions read, themselves or in the functions that they call."""
        found = self._all(nodes, frame._replace(guards=(), needs=frozenset()))
        return frozenset(access.field for access in found if access.kind == "read")

    # Statements

    def _walk_FunctionDef(self, node: Function, frame: _Frame) -> Iterator[Access]:
        # The body of an inner function is walked when it is called.
        frame.local[node.name] = node
        yield from self._all([*node.decorator_list, *node.args.defaults], frame)

    _walk_AsyncFunctionDef = _walk_FunctionDef

    def _walk_ClassDef(self, node: ast.ClassDef, frame: _Frame) -> Iterator[Access]:
        return iter(())

    def _walk_Assign(
        self, node: ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For, frame: _Frame
    ) -> Iterator[Access]:
        targets = targets_of(node)
        if targets[0].value is None:
            return
        needs = frozenset[str]()
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
            yield from self._walk_Attribute(node.target, frame)
            needs = frozenset(filter(None, [self._field(node.target, frame)]))
        yield from self._walk(targets[0].value, frame)
        places = [item for target in targets if isinstance(target.node, ast.expr) for item in ast.walk(target.node)]
        if any(self._field(item, frame) for item in places):
            needs |= self._fields_in([targets[0].value], frame)
        for item in places:
            # ``self.a.b = 1`` and ``self.a[0] = 1`` count as writes of ``a``, since they change its value in place.
            field = self._field(item, frame)
            if field and isinstance(item, ast.expr):
                yield self._access("write", field, item, frame, needs)
            if isinstance(item, ast.Subscript):
                yield from self._walk(item, frame)

    _walk_AnnAssign = _walk_AugAssign = _walk_Assign

    def _walk_For(self, node: ast.For, frame: _Frame) -> Iterator[Access]:
        yield from self._walk_Assign(node, frame)
        yield from self._all([*node.body, *node.orelse], frame)

    def _guarded(self, test: ast.expr, frame: _Frame, text: str = "{}") -> _Frame:
        guard = text.format(ast.unparse(test))[:200]
        return frame._replace(guards=(*frame.guards, guard), needs=frame.needs | self._fields_in([test], frame))

    def _walk_If(self, node: ast.If | ast.While, frame: _Frame) -> Iterator[Access]:
        yield from self._walk(node.test, frame)
        yield from self._all(node.body, self._guarded(node.test, frame))
        if node.orelse:
            is_if = isinstance(node, ast.If)
            yield from self._all(node.orelse, self._guarded(node.test, frame, "not ({})") if is_if else frame)

    _walk_While = _walk_If

    def _walk_Match(self, node: ast.Match, frame: _Frame) -> Iterator[Access]:
        yield from self._walk(node.subject, frame)
        for case in node.cases:
            yield from self._all([case.guard, *case.body], self._guarded(node.subject, frame))

    # Expressions

    def _walk_Name(self, node: ast.Name, frame: _Frame) -> Iterator[Access]:
        # An inner function that is mentioned without a call is passed on: it is assumed that it is called here.
        if node.id in frame.local:
            yield from self._local(frame.local[node.id], frame)

    def _walk_Attribute(self, node: ast.Attribute, frame: _Frame) -> Iterator[Access]:
        if self._is_record(node.value, frame):
            yield from self._read(node, frame)
        else:
            yield from self._walk(node.value, frame)

    def _read(self, node: ast.Attribute, frame: _Frame) -> Iterator[Access]:
        place = self._callees.method(node.attr)
        function = self._index.function(place) if place else None
        if node.attr in self._fields:
            yield self._access("read", node.attr, node, frame)
        elif place and function and decorator_names(function) & _PROPERTIES:
            yield from self._into(place, frame)

    def _walk_Call(self, node: ast.Call, frame: _Frame) -> Iterator[Access]:
        func, first = node.func, node.args[0] if node.args else None
        if self._is_record(node, frame):
            return
        called = func.id if isinstance(func, ast.Name) else ""
        method = func.attr if isinstance(func, ast.Attribute) and self._is_record(func.value, frame) else ""
        if not method and called not in frame.local:
            yield from self._walk(func, frame)
        yield from self._all(given(node), frame)
        place = self._callees.method(method) if method else None
        if called in _BY_NAME and self._is_record(first, frame):
            yield from self._by_name(node, called, frame)
        elif called.lstrip("_") == DECLARE or (method == DECLARE and place is None):
            for keyword in node.keywords if method or self._is_record(first, frame) else ():
                if keyword.arg in self._fields and keyword.arg is not None:
                    yield self._access("write", keyword.arg, node, frame, self._fields_in([keyword.value], frame))
        elif called.lstrip("_") in RUNS_PASSES:
            if self._is_record(first, frame):
                places = [(text, self._index.resolve(frame.path, text)) for text in passes_run(node)]
                yield from self._handed_to(places, node, frame)
        elif called in frame.local:
            yield from self._local(frame.local[called], frame)
        elif place is not None:
            yield from self._into(place, frame)
        elif method:
            if method in self._fields:
                yield self._access("read", method, node, frame)
        elif any(self._is_record(item, frame) for item in given(node)):
            callees = self._callees.of(frame.path, func, frame.node, frame.scope) or []
            followed: list[Definition | None] = [callee.place for callee in callees] or [None]
            yield from self._handed_to([(ast.unparse(func), place) for place in followed], node, frame)

    def _by_name(self, node: ast.Call, called: str, frame: _Frame) -> Iterator[Access]:
        kind = _BY_NAME[called]
        name = node.args[1] if len(node.args) > 1 else None
        if not isinstance(name, ast.Constant):
            yield self._access("handed", f"{called}() with a computed name", node, frame)
        elif name.value in self._fields:
            needs = self._fields_in(node.args[2:] if kind == "write" else [], frame)
            yield self._access(kind, str(name.value), node, frame, needs)

    def _handed_to(
        self, callees: list[tuple[str, Definition | None]], node: ast.Call, frame: _Frame
    ) -> Iterator[Access]:
        """Walk the functions that get the record, given with their texts; yield "handed" for an unknown function."""
        for text, place in callees:
            inner = self._frame(place, frame) if place else None
            if inner is not None and inner.scope.records:
                yield from self._body(inner.node, inner)
            else:
                yield self._access("handed", text, node, frame)


def effects_of(index: TreeIndex, facts: RecordFacts, callees: Callees) -> dict[str, Effects]:
    """Return the effects of the record's methods, by name, and of functions that get the record, by ``file:name``.

    If several classes define a method, its effects are those of all definitions together.
    """
    reader = AccessReader(index, facts, callees)
    found: dict[str, Effects] = {}
    for owner in sorted(facts.classes):
        for name in index.read(owner.file).functions:
            of_class, _, method = name.rpartition(".")
            if of_class == owner.name:
                effects = _summed(reader.function(owner._replace(name=name)))
                found[method] = found.get(method, Effects()) | effects
    return found | {f"{place.file}:{place.name}": _summed(reader.function(place)) for place in sorted(facts.passed)}


def _summed(accesses: list[Access]) -> Effects:
    reads = [access for access in accesses if access.kind == "read"]
    return Effects(
        reads=frozenset(access.field for access in reads),
        writes=frozenset(access.field for access in accesses if access.kind == "write"),
        unknown=any(access.kind == "handed" for access in accesses),
        behind=frozenset(access.field for access in reads if access.through),
    )
