"""Finds the functions that get the record during its resolution, and the places that hide what happens to it.

Only a name that holds the record gives access to it. So it is enough to look at each mention of such a name. It may
read or write an attribute of the record, call a method of it, or pass it to a function of the tree, which is then
followed. A few mentions are harmless, such as a comparison with ``is``. Any other mention is a hidden place. Two
things are assumed: nothing else has the record before the resolution, and nothing replaces a method or a function of
the tree while it runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from codemods.reading.architecture import written_texts
from codemods.reading.callees import Callee, Callees, loops_over, passes_run
from codemods.reading.facts import Hidden, RecordFacts, ResolutionFacts
from codemods.reading.index import Definition, TreeIndex
from codemods.reading.scopes import NOTHING, ScopeNames, record_scopes
from codemods.runtime.names import APPLIES_AT_END, DECLARE, GIVE_RECORD, RUNS_PASSES
from harness.source.nodes import SCOPES, Scope, decorator_name, last_name, text_of
from harness.source.scopes import parameters_of, scopes_in, times_bound
from harness.source.writes import binds, targets_of

_OF_RUNTIME = (DECLARE, *GIVE_RECORD)
# Methods and names that change what access to an attribute does.
_OWN_WAYS = ("__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__slots__")
_HARMLESS_BASES = {"object", "ABC", "Generic", "Protocol"}
# Calls and attributes that neither keep the record nor access its fields.
_HARMLESS_CALLS = {"isinstance", "type", "id", "callable", "super"}
_HARMLESS_NAMES = {"__class__", "__doc__", "__module__"}
# Decorators that do nothing to the record before they call the function.
_HARMLESS_DECORATORS = {
    "abstractmethod",
    "cached_property",
    "classmethod",
    "contextmanager",
    "getter",
    "override",
    "property",
    "provides",
    "setter",
    "staticmethod",
    APPLIES_AT_END,
}
_SUSPENDS = (ast.AsyncFunctionDef, ast.Await, ast.Yield, ast.YieldFrom)
_HARMLESS_CLASS_DECORATORS = {"dataclass", "final"}
# Functions whose call, in the body of a class, gives no descriptor.
_HARMLESS_VALUES = {"field", "dict", "frozenset", "list", "set", "tuple"}
_LOOKS_AT_LOCALS = {"locals", "vars", "eval", "exec", "dir"}
# Why a mention of the record is hidden, by the node around it.
_KEEPS: dict[type[ast.AST], str] = {
    ast.Return: "it is returned",
    ast.Yield: "it is yielded",
    ast.Assign: "it is kept",
    ast.AnnAssign: "it is kept",
    ast.NamedExpr: "it gets another name inside an expression",
    ast.List: "it is put into a collection",
    ast.Tuple: "it is put into a collection",
    ast.Set: "it is put into a collection",
    ast.Dict: "it is put into a collection",
    ast.FormattedValue: "it is printed as a whole",
    ast.Compare: "it is compared as a whole",
    ast.Starred: "it is unpacked",
}


def resolution_of(
    index: TreeIndex, facts: RecordFacts, callees: Callees, entry: str = "__post_init__"
) -> ResolutionFacts:
    """Return the functions that run in the resolution, which is a call of the record's method ``entry``.

    If the record has no such method, the resolution is a call of the function that gets the record and calls each
    handler that a tuple names.
    """
    place = callees.method(entry) or callees.loop_over_handlers()
    nodes = [inner for node in index.definitions(place) for inner in ast.walk(node)] if place else []
    # A generator or coroutine has not ended when its call returns, so the end of the resolution is not known.
    if place is None or any(isinstance(node, _SUSPENDS) for node in nodes):
        return ResolutionFacts()
    return _Reach(index, facts, callees).read(place)


class _Reach:
    def __init__(self, index: TreeIndex, facts: RecordFacts, callees: Callees) -> None:
        self._index = index
        self._facts = facts
        self._callees = callees
        # The functions, each with the parameters that hold the record.
        self._reached: dict[Definition, frozenset[str]] = {}
        # The functions that get a view of the record, and those that get the record itself.
        self._views: set[Definition] = set()
        self._direct: set[Definition] = set()
        # The strings that calls give to a parameter; None once a call gives it anything else.
        self._names: dict[tuple[Definition, str], frozenset[str] | None] = {}
        self._waiting: list[Definition] = []
        self._hidden: dict[Definition, list[Hidden]] = {}
        # By file: the parameters that were known to hold the record when its scopes were read, and these scopes.
        self._scopes: dict[str, tuple[object, dict[Scope, ScopeNames]]] = {}
        # The function that is read now.
        self._place = Definition("", "")
        self._parents: dict[ast.AST, ast.AST] = {}
        self._function: Scope | None = None

    def read(self, entry: Definition) -> ResolutionFacts:
        """Follow the calls from ``entry`` on until no new function is found."""
        self._call(entry)
        while self._waiting:
            self._read_function(self._waiting.pop())
        hidden = {item for found in self._hidden.values() for item in found}
        for place in sorted(self._facts.classes):
            node = self._index.class_at(place)
            hidden |= set(self._of_class(place, node) if node else ())
        return ResolutionFacts(
            entry=entry,
            reached=dict(sorted(self._reached.items())),
            passes=frozenset(self._views - self._direct),
            names={key: value for key, value in sorted(self._names.items()) if value is not None},
            hidden=tuple(sorted(hidden, key=lambda item: item[:4])),
        )

    # -- the classes

    def _of_class(self, place: Definition, owner: ast.ClassDef) -> Iterator[Hidden]:
        def hidden(why: str, line: int = owner.lineno) -> Hidden:
            return Hidden(place.file, line, f"class {place.name}", why)

        for base in map(ast.unparse, owner.bases):
            is_known = base.partition("[")[0].rpartition(".")[2] in _HARMLESS_BASES
            if not is_known and self._index.resolve(place.file, base) is None:
                yield hidden(f"its base {base} is not in the tree")
        for item in ast.walk(owner):
            own = getattr(item, "name", getattr(item, "id", ""))
            if own in _OWN_WAYS and not isinstance(getattr(item, "ctx", None), ast.Load):
                yield hidden(f"it has a way of its own with attributes, {own}", getattr(item, "lineno", owner.lineno))
        for decorator in owner.decorator_list:
            if decorator_name(decorator) not in _HARMLESS_CLASS_DECORATORS:
                yield hidden(f"its decorator {ast.unparse(decorator)} may change it")
            if isinstance(decorator, ast.Call) and any(item.arg == "slots" for item in decorator.keywords):
                yield hidden("it keeps its attributes in slots")
        for statement in owner.body:
            value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
            if isinstance(value, ast.Call) and last_name(value.func) not in _HARMLESS_VALUES:
                what = " ".join(ast.unparse(statement).split())[:120]
                names = frozenset(binds(statement))
                yield Hidden(place.file, statement.lineno, what, "it may be a descriptor", names)

    # -- functions

    def _call(self, place: Definition, call: ast.Call | None = None) -> None:
        """Follow a method of the record; its other arguments are known only if the ``call`` is given."""
        self._direct.add(place)
        self._reach(place, frozenset(self._callees.own_parameters(place)))
        self._hand_names(call, Callee(place, 0 if self._callees.is_static(place) else 1))

    def _call_methods(self, name: str, call: ast.Call | None = None) -> bool:
        """Follow the record's methods called ``name``; return whether there are any."""
        for place in self._callees.methods(name):
            self._call(place, call)
        return bool(self._callees.methods(name))

    def _reach(self, place: Definition, parameters: frozenset[str]) -> None:
        if place not in self._reached or not parameters <= self._reached[place]:
            self._reached[place] = self._reached.get(place, frozenset()) | parameters
            self._again(place)

    def _again(self, place: Definition) -> None:
        # What a function does with the record depends on which parameters hold the record, and on the strings that
        # are passed to it: when more of either are found, it is read again.
        if place in self._reached and place not in self._waiting:
            self._waiting.append(place)

    def _scopes_of(self, path: str) -> dict[Scope, ScopeNames]:
        passed = dict(self._facts.passed)
        for place, names in self._reached.items():
            passed[place] = passed.get(place, frozenset()) | names
        here = {place: names for place, names in passed.items() if place.file == path}
        if path not in self._scopes or self._scopes[path][0] != here:
            facts = replace(self._facts, passed=passed)
            self._scopes[path] = (here, record_scopes(self._index.read(path), facts))
        return self._scopes[path][1]

    def _read_function(self, place: Definition) -> None:
        self._hidden[place] = []
        self._place = place
        scopes = self._scopes_of(place.file)
        for node in self._index.definitions(place):
            self._function = node
            self._parents = {child: item for item in ast.walk(node) for child in ast.iter_child_nodes(item)}
            for decorator in node.decorator_list:
                if decorator_name(decorator).lstrip("_") not in _HARMLESS_DECORATORS:
                    called = decorator.func if isinstance(decorator, ast.Call) else decorator
                    self._hide(decorator, f"@{ast.unparse(called)}", "the decorator gets the record")
            scope = scopes.get(node, NOTHING)
            for name in sorted(self._reached[place] - scope.records):
                self._hide(node, f"def {node.name}", f"its parameter {name!r} holds the record and is bound again")
            for statement in node.body:
                self._look(statement, scope, scopes)

    def _look(self, node: ast.AST, scope: ScopeNames, scopes: dict[Scope, ScopeNames]) -> None:
        if isinstance(node, SCOPES):
            scope = scopes.get(node, NOTHING)
        elif isinstance(node, ast.Name) and node.id in scope.records and isinstance(node.ctx, ast.Load):
            self._mention(node, scope)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in _LOOKS_AT_LOCALS and (node.func.id in ("eval", "exec") or not node.args):
                self._hide(node, ast.unparse(node), "it looks at all locals")
            elif node.func.id == "super":
                around = self._parents[node]
                if not isinstance(around, ast.Attribute) or not self._call_methods(around.attr):
                    self._hide(node, ast.unparse(around), "what it calls is not in the tree")
        for child in ast.iter_child_nodes(node):
            self._look(child, scope, scopes)

    def _hide(
        self,
        node: ast.expr | ast.stmt,
        what: str,
        reason: str,
        fields: frozenset[str] | None = None,
        callee: str = "",
    ) -> None:
        text = " ".join(what.split())[:120]
        self._hidden[self._place].append(Hidden(self._place.file, node.lineno, text, reason, fields, callee))

    # -- mentions of the record

    def _mention(self, name: ast.Name, scope: ScopeNames) -> None:
        around = self._parents[name]
        if isinstance(around, ast.keyword):
            around = self._parents[around]
        if isinstance(around, ast.Attribute):
            self._attribute(around)
        elif isinstance(around, ast.Call) and around.func is not name:
            self._given(around, name, scope)
        elif not _is_identity(around) and not _is_alias(around, scope):
            self._hide(name, ast.unparse(around), _KEEPS.get(type(around), "it is used as a whole"))

    def _attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._hide(node, ast.unparse(node), "it is assigned: record_writes comes first", frozenset([node.attr]))
            # If the attribute is a property, assigning it runs its setter.
            self._call_methods(node.attr)
            return
        around = self._parents[node]
        call = around if isinstance(around, ast.Call) and around.func is node else None
        is_method = self._call_methods(node.attr, call)
        if any(_may_get_record(value, call is not None) for value in self._callees.class_values.get(node.attr, ())):
            self._hide(node, ast.unparse(node), "what its class holds there may get the record")
        if not is_method and node.attr.startswith("__") and node.attr not in _HARMLESS_NAMES:
            self._hide(node, ast.unparse(node), "it looks into the record itself")

    def _given(self, call: ast.Call, name: ast.Name, scope: ScopeNames) -> None:
        """Look at a call with the record ``name`` among its arguments."""
        func, is_first = call.func, call.args[:1] == [name]
        called = func.id if isinstance(func, ast.Name) else ""
        if called in ("getattr", "hasattr", "setattr", "delattr") and is_first:
            self._by_name(call, called)
        elif called in _HARMLESS_CALLS:
            return
        elif called.lstrip("_") in _OF_RUNTIME and is_first:
            # Declaring sets the attribute, and so may run the setter of a property.
            for keyword in call.keywords:
                self._call_methods(keyword.arg or "")
        elif called.lstrip("_") in RUNS_PASSES and is_first:
            self._run_passes(call)
        elif ast.unparse(func) in ("object.__setattr__", "super().__setattr__"):
            self._by_name(call, "setattr")
        else:
            callees = self._callees.of(self._place.file, func, self._function, scope)
            if callees is None:
                text = ast.unparse(func)
                self._hide(call, ast.unparse(call), f"it is handed on to {text}, which is not followed", callee=text)
            for callee in callees or ():
                self._hand(call, name, callee)

    def _hand(self, call: ast.Call, name: ast.Name, callee: Callee) -> None:
        parameters = [key for key, value in self._callees.arguments(call, callee).items() if value is name]
        if not parameters:
            self._hide(call, ast.unparse(call), f"nothing shows as what {callee.place.name} gets it")
            return
        self._direct.add(callee.place)
        self._reach(callee.place, frozenset(parameters))
        self._hand_names(call, callee)

    def _run_passes(self, call: ast.Call) -> None:
        for text in passes_run(call):
            place = self._index.resolve(self._place.file, text)
            if place is None or not self._index.definitions(place):
                self._hide(call, ast.unparse(call), f"the pass {text} is not followed")
                continue
            self._views.add(place)
            self._reach(place, frozenset(self._callees.first_parameters(place)))
            self._hand_names(None, Callee(place))

    # -- attribute names given as strings

    def _hand_names(self, call: ast.Call | None, callee: Callee) -> None:
        """Remember the strings that ``call`` gives to the callee's parameters; without a call none is known."""
        given = self._callees.arguments(call, callee) if call else {}
        for parameter in self._callees.every_parameter(callee.place):
            texts = self._texts(given[parameter]) if parameter in given else None
            key = (callee.place, parameter)
            before = self._names.get(key, frozenset())
            after = None if texts is None or before is None else before | texts
            if after != before or key not in self._names:
                self._names[key] = after
                self._again(callee.place)

    def _texts(self, node: ast.expr) -> frozenset[str] | None:
        """Return the strings that ``node`` may be, or None if the source does not show them."""
        if isinstance(node, ast.Constant):
            text = text_of(node)
            return None if text is None else frozenset([text])
        if not isinstance(node, ast.Name) or self._function is None:
            return None
        inside = [item for item in scopes_in(self._function) if item is not self._function]
        if any(node.id in parameters_of(item) or node.id in times_bound(item) for item in inside):
            return None
        bound = times_bound(self._function).get(node.id, 0)
        if not bound and node.id in parameters_of(self._function):
            return self._names.get((self._place, node.id), frozenset())
        loops = loops_over(self._function, node.id)
        found = [written_texts(item.iter) for item in loops]
        if not loops or len(loops) != bound or None in found:
            return None
        return frozenset(text for texts in found if texts for text in texts)

    def _by_name(self, call: ast.Call, called: str) -> None:
        text = ast.unparse(call)
        known = self._texts(call.args[1]) if len(call.args) > 1 else None
        if known is None or any(item.startswith("__") for item in known):
            reads = called in ("getattr", "hasattr")
            self._hide(call, text, f"it {'reads' if reads else 'writes'} an attribute by a name that is not known")
            return
        if called in ("setattr", "delattr"):
            self._hide(call, text, "it is set by its name: record_writes comes first", known)
        # An attribute of that name may be a property.
        for name in sorted(known):
            self._call_methods(name)


def _is_identity(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and all(isinstance(item, (ast.Is, ast.IsNot)) for item in node.ops)


def _is_alias(node: ast.AST, scope: ScopeNames) -> bool:
    targets = [target.node for target in targets_of(node)] if isinstance(node, (ast.Assign, ast.AnnAssign)) else []
    return bool(targets) and all(isinstance(item, ast.Name) and item.id in scope.records for item in targets)


def _may_get_record(value: ast.expr, called: bool) -> bool:
    """A class body sets an attribute to ``value``. Return whether using it on the record may pass on the record."""
    if isinstance(value, ast.Call):
        return last_name(value.func) not in _HARMLESS_VALUES
    return isinstance(value, ast.Lambda) or (called and isinstance(value, (ast.Name, ast.Attribute)))
