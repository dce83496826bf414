"""Finds the functions of a tree that a call may run, and the argument that each of their parameters gets."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import NamedTuple

from codemods.reading.facts import RecordFacts
from codemods.reading.index import Definition, Imported, TreeIndex
from codemods.reading.scopes import ScopeNames
from codemods.runtime.names import RUNS_PASSES
from harness.source.calls import arguments_of, calls_in, defaults, positional
from harness.source.nodes import FUNCTIONS, Scope, decorator_names
from harness.source.scopes import parameters_of, scopes_in, times_bound
from harness.source.writes import binds


class Callee(NamedTuple):
    """A function that a call may run. The call gives no argument to its first ``skipped`` parameters (``self``)."""

    place: Definition
    skipped: int = 0


class Callees:
    """Answers which functions the calls in one tree may run.

    If a name may mean several functions, the answer is all of them; it is None if one of them is not known.
    """

    def __init__(self, index: TreeIndex, facts: RecordFacts) -> None:
        self._index = index
        self._facts = facts
        self.methods = cache(self._methods)
        self.means = cache(self._means)
        self._assigned_in = cache(self._read_assigned)
        self._locals_in = cache(_locals_in)

    # -- definitions

    def _methods(self, name: str) -> list[Definition]:
        """Return the methods called ``name`` of the record's class, its ancestors and its descendants."""
        found = [Definition(owner.file, f"{owner.name}.{name}") for owner in sorted(self._facts.classes)]
        return [place for place in found if self._index.definitions(place)]

    def method(self, name: str) -> Definition | None:
        """Return the method ``name`` of the record's own class, or else of another of its classes, or None."""
        own = self._facts.record._replace(name=f"{self._facts.record.name}.{name}")
        found = self.methods(name)
        return own if own in found else next(reversed(found), None)

    def _decorators(self, place: Definition) -> frozenset[str]:
        return frozenset(name for node in self._index.definitions(place) for name in decorator_names(node))

    def is_static(self, place: Definition) -> bool:
        """Return whether the method at ``place`` is static: it gets neither the record nor its class by itself."""
        return "staticmethod" in self._decorators(place)

    def own_parameters(self, place: Definition) -> set[str]:
        """Return the parameter that is the record in the method at ``place``; none if it is no method of a record."""
        owner, _, name = place.name.rpartition(".")
        if Definition(place.file, owner) not in self._facts.classes or name == "__new__":
            return set()
        is_other = self._decorators(place) & {"staticmethod", "classmethod"}
        return set() if is_other else self.first_parameters(place)

    def first_parameters(self, place: Definition) -> set[str]:
        """Return the names of the first parameter in the definitions of the function at ``place``."""
        return {name for node in self._index.definitions(place) for name in positional(node)[:1]}

    def every_parameter(self, place: Definition) -> list[str]:
        """Return the names of the parameters of the function at ``place``."""
        return sorted({name for node in self._index.definitions(place) for name in parameters_of(node)})

    @cached_property
    def class_values(self) -> Mapping[str, list[ast.expr]]:
        """All values that the bodies of the record's classes assign to each name."""
        found: dict[str, list[ast.expr]] = {}
        for owner in filter(None, map(self._index.class_at, sorted(self._facts.classes))):
            for item in owner.body:
                if isinstance(item, (ast.Assign, ast.AnnAssign)) and item.value is not None:
                    for name in binds(item):
                        found.setdefault(name, []).append(item.value)
        return found

    # -- calls

    def of(self, path: str, func: ast.expr, function: Scope | None, scope: ScopeNames) -> list[Callee] | None:
        """Return the functions that a call of ``func`` in the file ``path`` may run; None if that is not known.

        The call is in ``function``, and ``scope`` says which names hold the record there.
        """
        if isinstance(func, ast.Name):
            return None if self._is_local(func.id, function) else self._called(path, func.id)
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
            return None
        owner, name = func.value.id, func.attr
        if owner in scope.records:
            return [Callee(place, 0 if self.is_static(place) else 1) for place in self.methods(name)] or None
        if function is not None and self._is_local(owner, function):
            return self._in_loop(path, owner, name, function)
        imported = self._imports(path, owner)
        files = [self._index.file_of(dotted) for dotted in {".".join(filter(None, origin)) for origin in imported}]
        if any(origin.name is None for origin in imported) or any(files):
            return self._called(files[0], name) if len(files) == 1 and files[0] else None
        found = [self._of_class(place, name) for place in self.means(path, owner) or []]
        return None if not found or None in found else [item for item in found if item]

    def _is_local(self, name: str, function: Scope | None) -> bool:
        return function is not None and name in self._locals_in(function)

    def _called(self, path: str, name: str) -> list[Callee] | None:
        """Return the functions, or constructors of classes, that ``name`` means in a file; None if not known."""
        found: list[Callee] = []
        for place in self.means(path, name) or []:
            if self._index.definitions(place):
                found.append(Callee(place))
            elif self._makes_plainly(place):
                found.append(Callee(place._replace(name=f"{place.name}.__init__"), 1))
            else:
                return None
        return found or None

    def _makes_plainly(self, place: Definition) -> bool:
        """Return whether a call of the class at ``place`` passes its arguments only to its own ``__init__``."""
        node = self._index.class_at(place)
        is_plain = node is not None and not node.decorator_list and not node.keywords
        has = {name: bool(self._index.definitions(place._replace(name=f"{place.name}.{name}"))) for name in _MAKING}
        return is_plain and has["__init__"] and not has["__new__"]

    def _of_class(self, owner: Definition, name: str) -> Callee | None:
        place = Definition(owner.file, f"{owner.name}.{name}")
        if not self._index.definitions(place):
            return None
        return Callee(place, 1 if "classmethod" in self._decorators(place) else 0)

    def _means(self, path: str, name: str) -> list[Definition] | None:
        """Return the classes and functions that ``name`` may mean in a file; None if it may mean anything else."""
        module = self._index.read(path)
        found: list[Definition | None] = [None] if name in self._assigned_in(path) else []
        if name in module.classes or name in module.definitions:
            found.append(Definition(path, name))
        for imported in self._imports(path, name):
            origin = self._index.located(imported)
            found.append(self._index.resolve(*origin) if origin else None)
        return None if not found or None in found else sorted({place for place in found if place})

    def _imports(self, path: str, name: str) -> set[Imported]:
        return set(self._index.read(path).every_import.get(name, ()))

    def _read_assigned(self, path: str) -> frozenset[str]:
        """Return the names that the top level of a file assigns, or that are declared ``global`` in it."""
        tree = self._index.read(path).tree
        shared = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
        return frozenset(shared | {name for statement in tree.body for name in _assigned(statement)})

    # -- arguments

    def arguments(self, call: ast.Call, callee: Callee) -> dict[str, ast.expr]:
        """Return the argument or default of each parameter of ``callee``, as far as the source shows it."""
        nodes = self._index.definitions(callee.place)
        if len(nodes) != 1 or any(isinstance(item, ast.Starred) for item in call.args):
            return {}
        given = arguments_of(call, nodes[0], callee.skipped)
        found = (defaults(nodes[0]) if given.is_whole else {}) | given.by_name
        return {name: value for name, value in found.items() if name in parameters_of(nodes[0])}

    # -- tuples of handlers

    def loop_over_handlers(self) -> Definition | None:
        """Return the function that gets the record and calls each handler that a tuple names, or None."""
        for path in files_naming_record(self._index, self._facts):
            for name, node in self._index.read(path).functions.items():
                for call in calls_in(node):
                    func, given = call.func, call.args[0] if call.args else None
                    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
                        is_first = isinstance(given, ast.Name) and given.id in positional(node)[:1]
                        if is_first and self._in_loop(path, func.value.id, func.attr, node):
                            return Definition(path, name)
        return None

    def _in_loop(self, path: str, variable: str, attribute: str, function: Scope) -> list[Callee] | None:
        """Return the methods of the record that ``variable.attribute`` may mean in a loop over a tuple of handlers.

        None unless ``variable`` is bound by that loop alone, and each element of the tuple names known methods.
        """
        names = [item for item in ast.walk(function) if isinstance(item, ast.Name) and item.id == variable]
        loops = loops_over(function, variable)
        if len(loops) != 1 or sum(not isinstance(item.ctx, ast.Load) for item in names) != 1:
            return None
        if not isinstance(loops[0].iter, ast.Name):
            return None
        own = Definition(path, loops[0].iter.id)
        origins = [self._index.located(imported) for imported in self._imports(*own)] or [own]
        if len(origins) > 1 or origins[0] is None:
            return None
        value = self._index.read(origins[0].file).assigned.get(origins[0].name)
        if not isinstance(value, ast.Tuple):
            return None
        found = [[] if _has_lambda(element) else self._methods_named(element) for element in value.elts]
        return [callee for named in found for callee in named] if all(found) else None

    def _methods_named(self, element: ast.expr) -> list[Callee]:
        names = methods_named(element, self._facts.record.name)
        return [Callee(place) for name in names for place in self.methods(name)]


_MAKING = ("__init__", "__new__")


def files_naming_record(index: TreeIndex, facts: RecordFacts) -> Iterator[str]:
    """Yield the files of the record's package whose text contains the name of the record."""
    package, name = facts.record.file.partition("/")[0] + "/", facts.record.name.encode()
    return (path for path in index.tree.names() if path.startswith(package) and name in index.tree.read(path))


def methods_named(element: ast.AST, record: str) -> list[str]:
    """Return the methods that an element of a tuple of handlers names, as ``record.method``."""
    return [
        node.attr
        for node in ast.walk(element)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == record
    ]


def loops_over(function: Scope, variable: str) -> list[ast.For]:
    """Return the ``for`` loops of a function whose target is the name ``variable`` alone."""
    loops = (item for item in ast.walk(function) if isinstance(item, ast.For))
    return [item for item in loops if isinstance(item.target, ast.Name) and item.target.id == variable]


def passes_run(call: ast.Call) -> list[str]:
    """Return the pass that a call of ``run_pass`` runs, or the providers from which ``run_provider`` chooses."""
    place = RUNS_PASSES.index(call.func.id.lstrip("_")) + 1 if isinstance(call.func, ast.Name) else 0
    given: Sequence[ast.expr] = call.args[place : place + 1] if place else ()
    if given and isinstance(given[0], ast.Tuple):
        given = given[0].elts
    return [ast.unparse(item) for item in given]


def _has_lambda(node: ast.AST) -> bool:
    return any(isinstance(item, ast.Lambda) for item in ast.walk(node))


def _assigned(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of the top level assigns, in the branches of conditions too."""
    if not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                yield node.id


def _locals_in(function: Scope) -> frozenset[str]:
    """Return the names that a function, or one inside it, binds, without those that it only imports.

    A name that is imported inside a function is found like one that the module imports: `ModuleIndex.every_import`
    holds both.
    """
    bound = {name for scope in scopes_in(function) for name in (*times_bound(scope), *parameters_of(scope))}
    nodes = list(ast.walk(function))
    imported = {name for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom)) for name in binds(node)}
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return frozenset(bound - (imported - stored))
