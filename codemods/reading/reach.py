"""Which functions a resolution reaches with the record, and each place where the record gets out of sight there.

Only a name that holds the record gives access to it, so each mention of one is looked at: it is read or written by an
attribute's name, a method is called, it is handed to a function of the tree, which is followed, or it is hidden. Two
things are taken for granted: before the resolution nobody else has the record, and nothing replaces a method or a
function of the tree while it runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from codemods.reading.callees import Callee, Callees
from codemods.reading.facts import Hidden, RecordFacts, ResolutionFacts
from codemods.reading.index import Definition, ModuleIndex, Scope, TreeIndex
from codemods.reading.passing import passes_run
from codemods.reading.scopes import NOTHING, ScopeNames, parameter_names, record_scopes, times_bound
from codemods.reading.slots import entry_place
from codemods.runtime.names import APPLIES_AT_END, DECLARE, GIVE_RECORD, RUNS_PASSES

_OF_RUNTIME = (DECLARE, *GIVE_RECORD)
_OWN_WAYS = ("__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__slots__")
_HARMLESS_BASES = {"object", "ABC", "Generic", "Protocol"}
_HARMLESS_CALLS = {"isinstance", "type", "id", "callable", "super"}
_HARMLESS_NAMES = {"__class__", "__doc__", "__module__"}
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
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SUSPENDS = (ast.AsyncFunctionDef, ast.Await, ast.Yield, ast.YieldFrom)
_HARMLESS_CLASS_DECORATORS = {"dataclass", "final"}
_HARMLESS_VALUES = {"field", "dict", "frozenset", "list", "set", "tuple"}
_LOOKS_AT_LOCALS = {"locals", "vars", "eval", "exec", "dir"}
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


def resolution_of(index: TreeIndex, facts: RecordFacts, entry: str = "__post_init__") -> ResolutionFacts:
    """Return what runs in the resolution that the record's method ``entry`` is.

    Where the record has no such method it is the function that is handed the record and calls what a tuple of
    handlers names, one after the other.
    """
    reader = _Reader(index, facts)
    place = entry_place(index, facts, entry) or reader.callees.loop_over_handlers()
    nodes = [inner for node in reader.callees.definitions(place) for inner in ast.walk(node)] if place else []
    # What is made to wait or to yield has not ended when its call has.
    if place is None or any(isinstance(node, _SUSPENDS) for node in nodes):
        return ResolutionFacts()
    return reader.read(place)


class _Reader:
    def __init__(self, index: TreeIndex, facts: RecordFacts) -> None:
        self._index = index
        self._facts = facts
        self.callees = Callees(index, facts)
        self._reached: dict[Definition, frozenset[str]] = {}
        self._views: set[Definition] = set()
        self._direct: set[Definition] = set()
        # What a parameter is given as text; None once something else is.
        self._names: dict[tuple[Definition, str], frozenset[str] | None] = {}
        self._waiting: list[Definition] = []
        self._hidden: dict[Definition, list[Hidden]] = {}
        self._scopes: dict[str, tuple[object, dict[Scope, ScopeNames]]] = {}
        # Where the walk is.
        self._place = Definition("", "")
        self._parents: dict[ast.AST, ast.AST] = {}
        self._function: Scope | None = None

    def read(self, entry: Definition) -> ResolutionFacts:
        """Follow the functions that ``entry`` leads to, until nothing is new."""
        self._call(entry)
        while self._waiting:
            self._read_function(self._waiting.pop())
        hidden = [item for found in self._hidden.values() for item in found] + list(self._of_classes())
        return ResolutionFacts(
            entry=entry,
            reached=dict(sorted(self._reached.items())),
            passes=frozenset(self._views - self._direct),
            names={key: value for key, value in sorted(self._names.items()) if value is not None},
            hidden=tuple(sorted(set(hidden), key=lambda item: item[:4])),
        )

    # -- what the classes say

    def _of_classes(self) -> Iterator[Hidden]:
        for place in sorted(self._facts.classes):
            module = self._index.module(place.file)
            if module is None:
                continue
            node = module.classes[place.name]
            for base in node.bases:
                text = ast.unparse(base)
                bare = text.partition("[")[0].rpartition(".")[2]
                if bare not in _HARMLESS_BASES and self._index.resolve(place.file, text) is None:
                    yield Hidden(
                        place.file, node.lineno, f"class {place.name}", f"its base {text} is not in the tree"
                    )
            for item in ast.walk(node):
                own = getattr(item, "name", getattr(item, "id", ""))
                if own in _OWN_WAYS and not isinstance(getattr(item, "ctx", None), ast.Load):
                    why = f"it has a way of its own with attributes, {own}"
                    yield Hidden(place.file, getattr(item, "lineno", node.lineno), f"class {place.name}", why)
            for decorator in node.decorator_list:
                text = ast.unparse(decorator)
                if text.partition("(")[0].rpartition(".")[2] not in _HARMLESS_CLASS_DECORATORS:
                    yield Hidden(
                        place.file, node.lineno, f"class {place.name}", f"its decorator {text} may change it"
                    )
                if isinstance(decorator, ast.Call) and any(item.arg == "slots" for item in decorator.keywords):
                    yield Hidden(place.file, node.lineno, f"class {place.name}", "it keeps its attributes in slots")
            yield from _descriptors(place, node)

    # -- functions

    def _call(self, place: Definition, call: ast.Call | None = None) -> None:
        """Follow a method of the record; without a call nothing shows what its parameters are given."""
        self._direct.add(place)
        self._reach(place, frozenset(self.callees.own_parameters(place)))
        self._hand_names(call, Callee(place, 0 if self.callees.is_static(place) else 1))

    def _reach(self, place: Definition, parameters: frozenset[str]) -> None:
        if place not in self._reached or not parameters <= self._reached[place]:
            self._reached[place] = self._reached.get(place, frozenset()) | parameters
            self._again(place)

    def _again(self, place: Definition) -> None:
        if place in self._reached and place not in self._waiting:
            self._waiting.append(place)

    def _scopes_of(self, module: ModuleIndex) -> dict[Scope, ScopeNames]:
        passed = dict(self._facts.passed)
        for place, names in self._reached.items():
            passed[place] = passed.get(place, frozenset()) | names
        here = {place: names for place, names in passed.items() if place.file == module.path}
        if module.path not in self._scopes or self._scopes[module.path][0] != here:
            self._scopes[module.path] = (here, record_scopes(module, replace(self._facts, passed=passed)))
        return self._scopes[module.path][1]

    def _read_function(self, place: Definition) -> None:
        module = self._index.module(place.file)
        assert module is not None, "a place is only reached in a file that parses"
        self._hidden[place] = []
        self._place = place
        scopes = self._scopes_of(module)
        for node in self.callees.definitions(place):
            self._function = node
            self._parents = {child: item for item in ast.walk(node) for child in ast.iter_child_nodes(item)}
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                text = ast.unparse(called)
                if text.rpartition(".")[2].lstrip("_") not in _HARMLESS_DECORATORS:
                    self._hide(decorator, f"@{text}", "the decorator gets the record")
            scope = scopes.get(node, NOTHING)
            for name in sorted(self._reached[place] - scope.records):
                self._hide(node, f"def {node.name}", f"its parameter {name!r} holds the record and is bound again")
            for statement in node.body:
                self._look(statement, scope, scopes)

    def _look(self, node: ast.AST, scope: ScopeNames, scopes: dict[Scope, ScopeNames]) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            scope = scopes.get(node, NOTHING)
        elif isinstance(node, ast.Name) and node.id in scope.records and isinstance(node.ctx, ast.Load):
            self._mention(node, scope)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in _LOOKS_AT_LOCALS and (node.func.id in ("eval", "exec") or not node.args):
                self._hide(node, ast.unparse(node), "it looks at all locals")
            elif node.func.id == "super":
                self._super(node)
        for child in ast.iter_child_nodes(node):
            self._look(child, scope, scopes)

    def _hide(
        self, node: ast.AST, what: str, reason: str, fields: frozenset[str] | None = None, callee: str = ""
    ) -> None:
        text = " ".join(what.split())[:120]
        found = Hidden(self._place.file, getattr(node, "lineno", 0), text, reason, fields, callee)
        self._hidden[self._place].append(found)

    # -- mentions of the record

    def _mention(self, name: ast.Name, scope: ScopeNames) -> None:
        around = self._parents[name]
        if isinstance(around, ast.Attribute):
            self._attribute(around)
            return
        if isinstance(around, ast.keyword):
            around = self._parents[around]
        if isinstance(around, ast.Call) and around.func is not name:
            self._given(around, name, scope)
        elif not self._is_identity(around) and not self._is_alias(around, scope):
            self._hide(name, ast.unparse(around), _KEEPS.get(type(around), "it is used as a whole"))

    def _is_identity(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Compare) and all(isinstance(item, (ast.Is, ast.IsNot)) for item in node.ops)

    def _is_alias(self, node: ast.AST, scope: ScopeNames) -> bool:
        if not isinstance(node, (ast.Assign, ast.AnnAssign)):
            return False
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return all(isinstance(item, ast.Name) and item.id in scope.records for item in targets)

    def _attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._hide(node, ast.unparse(node), "it is assigned: record_writes comes first", frozenset([node.attr]))
            self._set(node.attr)
            return
        methods = self.callees.methods(node.attr)
        for place in methods:
            call = self._parents[node]
            self._call(place, call if isinstance(call, ast.Call) and call.func is node else None)
        called = isinstance(self._parents[node], ast.Call) and getattr(self._parents[node], "func", None) is node
        if any(_may_get_record(value, called) for value in self.callees.class_values(node.attr)):
            self._hide(node, ast.unparse(node), "what its class holds there may get the record")
        if not methods and node.attr.startswith("__") and node.attr not in _HARMLESS_NAMES:
            self._hide(node, ast.unparse(node), "it looks into the record itself")

    def _set(self, name: str) -> None:
        """Follow what setting an attribute may run."""
        for place in self.callees.methods(name):
            self._call(place)

    def _super(self, node: ast.Call) -> None:
        around = self._parents[node]
        methods = self.callees.methods(around.attr) if isinstance(around, ast.Attribute) else []
        for place in methods:
            self._call(place)
        if not methods:
            self._hide(node, ast.unparse(around), "what it calls is not in the tree")

    def _given(self, call: ast.Call, name: ast.Name, scope: ScopeNames) -> None:
        """Look at a call that is given the record."""
        func = call.func
        called = func.id if isinstance(func, ast.Name) else ""
        if called in ("getattr", "hasattr", "setattr", "delattr") and call.args and call.args[0] is name:
            self._by_name(call, called)
        elif called in _HARMLESS_CALLS:
            return
        elif called.lstrip("_") in _OF_RUNTIME and call.args[:1] == [name]:
            for keyword in call.keywords:
                self._set(keyword.arg or "")
        elif called.lstrip("_") in RUNS_PASSES and call.args and call.args[0] is name:
            self._run_passes(call)
        elif ast.unparse(func) in ("object.__setattr__", "super().__setattr__"):
            self._by_name(call, "setattr")
        else:
            targets = self.callees.of(self._place.file, func, self._function, scope)
            if targets is None:
                text = ast.unparse(func)
                self._hide(call, ast.unparse(call), f"it is handed on to {text}, which is not followed", callee=text)
            for target in targets or ():
                self._hand(call, name, target)

    def _hand(self, call: ast.Call, name: ast.Name, target: Callee) -> None:
        parameter = self.callees.parameter(call, name, target)
        if parameter is None:
            self._hide(call, ast.unparse(call), f"nothing shows as what {target.place.name} gets it")
            return
        self._direct.add(target.place)
        self._reach(target.place, frozenset([parameter]))
        self._hand_names(call, target)

    def _run_passes(self, call: ast.Call) -> None:
        for text in passes_run(call):
            place = self._index.resolve(self._place.file, text)
            if place is None or not self.callees.definitions(place):
                self._hide(call, ast.unparse(call), f"the pass {text} is not followed")
                continue
            self._views.add(place)
            self._reach(place, frozenset(self.callees.first_parameters(place)))
            self._hand_names(None, Callee(place))

    # -- names as text

    def _hand_names(self, call: ast.Call | None, target: Callee) -> None:
        """Remember what texts the parameters of a function that is followed are given; unknown without a call."""
        for parameter in self.callees.every_parameter(target.place):
            value = self.callees.argument(call, parameter, target) if call else None
            given = self._texts(value) if value is not None else None
            key = (target.place, parameter)
            before = self._names.get(key, frozenset())
            after = None if given is None or before is None else before | given
            if after != before or key not in self._names:
                self._names[key] = after
                self._again(target.place)

    def _texts(self, node: ast.expr) -> frozenset[str] | None:
        """Return the texts that ``node`` may be, or None where they are not written out."""
        if isinstance(node, ast.Constant):
            return frozenset([node.value]) if isinstance(node.value, str) else None
        if not isinstance(node, ast.Name) or self._function is None:
            return None
        inside = [
            item for item in ast.walk(self._function) if isinstance(item, _FUNCTIONS) and item is not self._function
        ]
        if any(node.id in parameter_names(item) or node.id in times_bound(item) for item in inside):
            return None
        bound = times_bound(self._function).get(node.id, 0)
        if not bound and node.id in parameter_names(self._function):
            return self._names.get((self._place, node.id), frozenset())
        loops = [
            item
            for item in ast.walk(self._function)
            if isinstance(item, ast.For) and isinstance(item.target, ast.Name) and item.target.id == node.id
        ]
        if not loops or len(loops) != bound:
            return None
        found = [_written_out(item.iter) for item in loops]
        return None if None in found else frozenset(text for texts in found if texts for text in texts)

    def _by_name(self, call: ast.Call, called: str) -> None:
        text = ast.unparse(call)
        known = self._texts(call.args[1]) if len(call.args) > 1 else None
        if known is None or any(item.startswith("__") for item in known):
            reads = called in ("getattr", "hasattr")
            self._hide(call, text, f"it {'reads' if reads else 'writes'} an attribute by a name that is not known")
        elif called in ("setattr", "delattr"):
            self._hide(call, text, "it is set by its name: record_writes comes first", known)
            for name in sorted(known):
                self._set(name)
        else:
            for place in [place for name in sorted(known) for place in self.callees.methods(name)]:
                self._call(place)


def _may_get_record(value: ast.expr, called: bool) -> bool:
    """Return whether an attribute that a class body sets to ``value`` may be handed the record when it is used."""
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).rpartition(".")[2] not in _HARMLESS_VALUES
    return isinstance(value, ast.Lambda) or (called and isinstance(value, (ast.Name, ast.Attribute)))


def _descriptors(place: Definition, owner: ast.ClassDef) -> Iterator[Hidden]:
    """Yield the attributes of a class that may have a way of their own to be read and set."""
    for item in owner.body:
        value = item.value if isinstance(item, (ast.Assign, ast.AnnAssign)) else None
        if not isinstance(value, ast.Call) or ast.unparse(value.func).rpartition(".")[2] in _HARMLESS_VALUES:
            continue
        targets = item.targets if isinstance(item, ast.Assign) else [getattr(item, "target", None)]
        names = frozenset(target.id for target in targets if isinstance(target, ast.Name))
        why = "it may be a descriptor"
        yield Hidden(place.file, item.lineno, " ".join(ast.unparse(item).split())[:120], why, names)


def _written_out(node: ast.expr) -> Sequence[str] | None:
    if not isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return None
    texts = [item.value for item in node.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return texts if len(texts) == len(node.elts) else None
