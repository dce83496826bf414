"""What happens to the record's fields in one function, in the order in which Python evaluates it, calls followed.

It is a reading of the text, not a trace: both branches of a condition happen, one after the other, a loop's body
happens once, and nothing returns early.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from codemods.reading.facts import RecordFacts
from codemods.reading.index import Definition, Function, ModuleIndex, Scope, TreeIndex
from codemods.reading.passing import passes_run
from codemods.reading.scopes import NOTHING, ScopeNames, record_scopes
from codemods.runtime.names import GIVE_RECORD, RUNS_PASSES

AccessKind = Literal["read", "write", "handed"]
_BY_NAME = {"getattr": "read", "hasattr": "read", "setattr": "write", "delattr": "write"}


class Access(NamedTuple):
    """One read or write of ``field``, or the record handed to something that is not followed (``field`` says what).

    ``slot`` is the slot's number. ``guards`` are the conditions it stands under, those at the call included, and
    ``needs`` the fields that they and a written value read. ``through`` are the calls that lead there.
    """

    kind: AccessKind
    field: str
    function: str
    file: str
    line: int
    slot: int = 0
    guards: tuple[str, ...] = ()
    needs: frozenset[str] = frozenset()
    through: tuple[str, ...] = ()


class _Frame(NamedTuple):
    """Where the walk is: the file, the function and what it knows, the guards and calls around."""

    module: ModuleIndex
    function: str
    scope: ScopeNames
    guards: tuple[str, ...]
    needs: frozenset[str]
    through: tuple[str, ...]
    local: dict[str, Function]


class Walker:
    """Walks functions of one tree. ``fields`` are the names that count, attributes that are no fields included."""

    def __init__(self, index: TreeIndex, facts: RecordFacts) -> None:
        self._index = index
        self._facts = facts
        self._fields = facts.fields.keys() | facts.attributes
        self._scopes: dict[str, dict[Scope, ScopeNames]] = {}
        self._methods = dict(self._find_methods())
        self._running: list[tuple[str, str]] = []

    def method(self, name: str) -> Definition | None:
        """Return where the record's method ``name`` is defined."""
        return self._methods.get(name)

    def statement(self, place: Definition, statement: ast.stmt) -> list[Access]:
        """Return what happens in one statement of the function at ``place``."""
        frame = self._frame(place)
        return list(self._walk(statement, frame)) if frame else []

    def function(self, place: Definition) -> list[Access]:
        """Return what happens in the function at ``place``."""
        frame = self._frame(place)
        node = self._node(place)
        return list(self._body(node, frame)) if frame and node else []

    # -- definitions

    def _find_methods(self) -> Iterator[tuple[str, Definition]]:
        # What a nearer class defines wins: ancestors come in the order in which they were found, the record last.
        ordered = sorted(self._facts.classes, key=lambda place: (place == self._facts.record, place))
        for place in ordered:
            module = self._index.module(place.file)
            for name in module.functions if module else ():
                owner, _, method = name.rpartition(".")
                if owner == place.name:
                    yield method, Definition(place.file, name)

    def _node(self, place: Definition) -> Function | None:
        module = self._index.module(place.file)
        return module.functions.get(place.name) if module else None

    def _scope(self, module: ModuleIndex, node: Scope) -> ScopeNames:
        if module.path not in self._scopes:
            self._scopes[module.path] = record_scopes(module, self._facts)
        return self._scopes[module.path].get(node, NOTHING)

    def _frame(self, place: Definition, around: _Frame | None = None) -> _Frame | None:
        module, node = self._index.module(place.file), self._node(place)
        if module is None or node is None:
            return None
        guards = around.guards if around else ()
        needs = around.needs if around else frozenset()
        through = (*around.through, around.function) if around else ()
        return _Frame(module, place.name, self._scope(module, node), guards, needs, through, {})

    # -- the walk

    def _body(self, node: Function, frame: _Frame) -> Iterator[Access]:
        key = (frame.module.path, frame.function)
        if key in self._running:
            return
        self._running.append(key)
        try:
            for statement in node.body:
                yield from self._walk(statement, frame)
        finally:
            self._running.pop()

    def _walk(self, node: ast.AST | None, frame: _Frame) -> Iterator[Access]:
        if node is None:
            return
        special = getattr(self, f"_walk_{type(node).__name__}", None)
        if special is not None:
            yield from special(node, frame)
        else:
            for child in ast.iter_child_nodes(node):
                yield from self._walk(child, frame)

    def _all(self, nodes: Iterable[ast.AST | None], frame: _Frame) -> Iterator[Access]:
        for node in nodes:
            yield from self._walk(node, frame)

    def _event(self, kind: AccessKind, field: str, node: ast.AST, frame: _Frame, needs: frozenset[str]) -> Access:
        line = getattr(node, "lineno", 0)
        return Access(
            kind, field, frame.function, frame.module.path, line, 0, frame.guards, frame.needs | needs, frame.through
        )

    def _is_record(self, node: ast.AST, frame: _Frame) -> bool:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
            return node.func.id.lstrip("_") in GIVE_RECORD and self._is_record(node.args[0], frame)
        return isinstance(node, ast.Name) and node.id in frame.scope.records

    def _fields_in(self, nodes: Iterable[ast.AST | None], frame: _Frame) -> frozenset[str]:
        """Return the fields that expressions read, through the record's own methods as well."""
        events = list(self._all(nodes, frame._replace(guards=(), needs=frozenset())))
        return frozenset(event.field for event in events if event.kind == "read")

    # Statements

    def _walk_FunctionDef(self, node: Function, frame: _Frame) -> Iterator[Access]:
        # What it does is done where it is called.
        frame.local[node.name] = node
        yield from self._all([*node.decorator_list, *node.args.defaults], frame)

    _walk_AsyncFunctionDef = _walk_FunctionDef

    def _walk_ClassDef(self, node: ast.ClassDef, frame: _Frame) -> Iterator[Access]:
        return iter(())

    def _walk_Assign(self, node: ast.Assign, frame: _Frame) -> Iterator[Access]:
        yield from self._stored(node.value, node.targets, frame)

    def _walk_AnnAssign(self, node: ast.AnnAssign, frame: _Frame) -> Iterator[Access]:
        if node.value is not None:
            yield from self._stored(node.value, [node.target], frame)

    def _walk_AugAssign(self, node: ast.AugAssign, frame: _Frame) -> Iterator[Access]:
        if isinstance(node.target, ast.Attribute):
            yield from self._read(node.target, frame)
        yield from self._stored(node.value, [node.target], frame, self._attribute(node.target, frame))

    def _stored(
        self, value: ast.expr, targets: list[ast.expr], frame: _Frame, needs: frozenset[str] = frozenset()
    ) -> Iterator[Access]:
        yield from self._walk(value, frame)
        if any(self._attribute(item, frame) for target in targets for item in ast.walk(target)):
            needs = needs | self._fields_in([value], frame)
        for target in targets:
            for item in ast.walk(target):
                for field in self._attribute(item, frame):
                    yield self._event("write", field, item, frame, needs)
                if isinstance(item, ast.Subscript):
                    yield from self._walk(item, frame)

    def _attribute(self, node: ast.AST, frame: _Frame) -> frozenset[str]:
        if isinstance(node, ast.Attribute) and self._is_record(node.value, frame) and node.attr in self._fields:
            return frozenset([node.attr])
        return frozenset()

    def _guarded(self, test: ast.expr, frame: _Frame, negated: bool = False) -> _Frame:
        text = ast.unparse(test)
        text = f"not ({text})" if negated else text
        return frame._replace(guards=(*frame.guards, text[:200]), needs=frame.needs | self._fields_in([test], frame))

    def _walk_If(self, node: ast.If, frame: _Frame) -> Iterator[Access]:
        yield from self._walk(node.test, frame)
        yield from self._all(node.body, self._guarded(node.test, frame))
        if node.orelse:
            yield from self._all(node.orelse, self._guarded(node.test, frame, negated=True))

    def _walk_While(self, node: ast.While, frame: _Frame) -> Iterator[Access]:
        yield from self._walk(node.test, frame)
        yield from self._all(node.body, self._guarded(node.test, frame))
        yield from self._all(node.orelse, frame)

    def _walk_For(self, node: ast.For, frame: _Frame) -> Iterator[Access]:
        yield from self._stored(node.iter, [node.target], frame)
        yield from self._all([*node.body, *node.orelse], frame)

    def _walk_Match(self, node: ast.Match, frame: _Frame) -> Iterator[Access]:
        yield from self._walk(node.subject, frame)
        for case in node.cases:
            inside = self._guarded(node.subject, frame)
            yield from self._walk(case.guard, inside)
            yield from self._all(case.body, inside)

    # Expressions

    def _walk_Name(self, node: ast.Name, frame: _Frame) -> Iterator[Access]:
        # A function inside that is handed on by name is called by whoever gets it.
        if node.id in frame.local:
            yield from self._local(frame.local[node.id], frame)

    def _walk_Attribute(self, node: ast.Attribute, frame: _Frame) -> Iterator[Access]:
        if self._is_record(node.value, frame):
            yield from self._read(node, frame)
        else:
            yield from self._walk(node.value, frame)

    def _read(self, node: ast.Attribute, frame: _Frame) -> Iterator[Access]:
        if node.attr in self._fields:
            yield self._event("read", node.attr, node, frame, frozenset())
            return
        place = self._methods.get(node.attr)
        function = self._node(place) if place else None
        if place and function and any("property" in ast.unparse(item) for item in function.decorator_list):
            yield from self._into(place, frame)

    def _into(self, place: Definition, frame: _Frame) -> Iterator[Access]:
        inner, node = self._frame(place, frame), self._node(place)
        if inner is not None and node is not None:
            yield from self._body(node, inner)

    def _walk_Call(self, node: ast.Call, frame: _Frame) -> Iterator[Access]:
        func = node.func
        if self._is_record(node, frame):
            return
        method = func.attr if isinstance(func, ast.Attribute) and self._is_record(func.value, frame) else None
        if method is None and not (isinstance(func, ast.Name) and func.id in frame.local):
            yield from self._walk(func, frame)
        yield from self._all([*node.args, *(keyword.value for keyword in node.keywords)], frame)
        if isinstance(func, ast.Name) and func.id in _BY_NAME and node.args and self._is_record(node.args[0], frame):
            yield from self._by_name(node, func.id, frame)
        elif isinstance(func, ast.Name) and func.id.lstrip("_") == "declare":
            yield from self._declared(node, frame)
        elif isinstance(func, ast.Name) and func.id.lstrip("_") in RUNS_PASSES:
            yield from self._passes(node, frame)
        elif isinstance(func, ast.Name) and func.id in frame.local:
            yield from self._local(frame.local[func.id], frame)
        elif method == "declare" and method not in self._methods:
            yield from self._keywords(node, frame)
        elif method is not None:
            yield from self._called_method(method, node, frame)
        elif any(self._is_record(item, frame) for item in _given(node)):
            yield from self._called_with_record(node, frame)

    def _by_name(self, node: ast.Call, called: str, frame: _Frame) -> Iterator[Access]:
        kind: AccessKind = "write" if _BY_NAME[called] == "write" else "read"
        name = node.args[1] if len(node.args) > 1 else None
        if not isinstance(name, ast.Constant):
            yield self._event("handed", f"{called}() with a computed name", node, frame, frozenset())
        elif name.value in self._fields:
            needs = self._fields_in(node.args[2:], frame) if kind == "write" else frozenset()
            yield self._event(kind, str(name.value), node, frame, needs)

    def _declared(self, node: ast.Call, frame: _Frame) -> Iterator[Access]:
        if node.args and self._is_record(node.args[0], frame):
            yield from self._keywords(node, frame)

    def _keywords(self, node: ast.Call, frame: _Frame) -> Iterator[Access]:
        for keyword in node.keywords:
            if keyword.arg in self._fields and keyword.arg is not None:
                yield self._event("write", keyword.arg, node, frame, self._fields_in([keyword.value], frame))

    def _passes(self, node: ast.Call, frame: _Frame) -> Iterator[Access]:
        """Follow what the runtime runs over a view of the record."""
        if not node.args or not self._is_record(node.args[0], frame):
            return
        for name in passes_run(node):
            place = self._index.resolve(frame.module.path, name)
            if place and self._node(place):
                yield from self._into(place, frame)
            else:
                yield self._event("handed", name, node, frame, frozenset())

    def _local(self, node: Function, frame: _Frame) -> Iterator[Access]:
        inner = frame._replace(
            function=f"{frame.function}.{node.name}",
            scope=self._scope(frame.module, node),
            through=(*frame.through, frame.function),
        )
        yield from self._body(node, inner)

    def _called_method(self, method: str, node: ast.Call, frame: _Frame) -> Iterator[Access]:
        place = self._methods.get(method)
        if place is not None:
            yield from self._into(place, frame)
        elif method in self._fields:
            yield self._event("read", method, node, frame, frozenset())

    def _called_with_record(self, node: ast.Call, frame: _Frame) -> Iterator[Access]:
        place = self._callee(node.func, frame)
        function = self._node(place) if place else None
        if place and function and self._frame_holds(place):
            yield from self._into(place, frame)
        else:
            yield self._event("handed", ast.unparse(node.func), node, frame, frozenset())

    def _frame_holds(self, place: Definition) -> bool:
        frame = self._frame(place)
        return frame is not None and bool(frame.scope.records)

    def _callee(self, func: ast.expr, frame: _Frame) -> Definition | None:
        """Return the function that is called: by its name, as a class, or as a method of a class that is named."""
        path = frame.module.path
        if isinstance(func, ast.Name):
            place = self._index.resolve(path, func.id)
            if place and self._node(place) is None:
                return Definition(place.file, f"{place.name}.__init__")
            return place
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            place = self._index.resolve(path, func.value.id)
            return Definition(place.file, f"{place.name}.{func.attr}") if place else None
        return None


def _given(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(keyword.value for keyword in node.keywords)]
