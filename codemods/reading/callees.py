"""Which functions of a tree a call may run, and which of their parameters gets which argument."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from codemods.reading.facts import RecordFacts
from codemods.reading.index import Definition, Function, ModuleIndex, Scope, TreeIndex
from codemods.reading.scopes import ScopeNames, bound_names, parameter_names


class Callee(NamedTuple):
    """A function that a call may run; ``skipped`` parameters come before the call's first argument."""

    place: Definition
    skipped: int = 0


class Callees:
    """Reads one tree. Where a name may mean several functions, each is an answer; where one is unknown, none is."""

    def __init__(self, index: TreeIndex, facts: RecordFacts) -> None:
        self._index = index
        self._facts = facts
        self._defined: dict[str, dict[str, list[Function]]] = {}
        self.methods = cache(self._methods)
        self.means = cache(self._means)
        self._imports_of = cache(self._read_imports)
        self._assigned_in = cache(self._read_assigned)

    # -- definitions

    def definitions(self, place: Definition) -> list[Function]:
        """Return every function of that name in its file: a condition may choose between several."""
        if place.file not in self._defined:
            module = self._index.module(place.file)
            self._defined[place.file] = _definitions(module) if module else {}
        return self._defined[place.file].get(place.name, [])

    def _methods(self, name: str) -> list[Definition]:
        """Return the methods called ``name`` of the record, its ancestors and its descendants."""
        found = [Definition(owner.file, f"{owner.name}.{name}") for owner in sorted(self._facts.classes)]
        return [place for place in found if self.definitions(place)]

    def is_static(self, place: Definition) -> bool:
        """Return whether the method at ``place`` gets no record or class of its own."""
        return any("staticmethod" in _decorators(node) for node in self.definitions(place))

    def own_parameters(self, place: Definition) -> set[str]:
        """Return the parameter that a method at ``place`` gets the record as, where it is one of a record's class."""
        owner, _, name = place.name.rpartition(".")
        if Definition(place.file, owner) not in self._facts.classes or name == "__new__":
            return set()
        kinds = {kind for node in self.definitions(place) for kind in _decorators(node)}
        return set() if kinds & {"staticmethod", "classmethod"} else self.first_parameters(place)

    def first_parameters(self, place: Definition) -> set[str]:
        """Return the name of the first parameter of the function at ``place``."""
        return {_positional(node)[0] for node in self.definitions(place) if _positional(node)}

    def every_parameter(self, place: Definition) -> list[str]:
        """Return the names of the parameters of the function at ``place``."""
        return sorted({name for node in self.definitions(place) for name in parameter_names(node)})

    # -- calls

    def of(self, path: str, func: ast.expr, function: Scope | None, scope: ScopeNames) -> list[Callee] | None:
        """Return what ``func``, called in ``function`` of the file ``path``, may be; None where it is not known."""
        if isinstance(func, ast.Name):
            return None if _is_local(func.id, function) else self._called(path, func.id)
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
            return None
        owner, name = func.value.id, func.attr
        if owner in scope.records:
            return [Callee(place, 0 if self.is_static(place) else 1) for place in self.methods(name)] or None
        if function is not None and _is_local(owner, function):
            return self._in_loop(path, owner, name, function)
        imported = self._imports(path, owner)
        modules = {dotted if original is None else f"{dotted}.{original}" for dotted, original in imported}
        files = [self._index.file_of(dotted) for dotted in modules]
        if any(original is None for _, original in imported) or any(files):
            return self._called(files[0], name) if len(files) == 1 and files[0] else None
        owners = self.means(path, owner)
        found = [self._of_class(place, name) for place in owners or []]
        return None if not found or None in found else [item for item in found if item]

    def _called(self, path: str, name: str) -> list[Callee] | None:
        found: list[Callee] = []
        for place in self.means(path, name) or []:
            if self.definitions(place):
                found.append(Callee(place))
            elif self._makes_plainly(place):
                found.append(Callee(place._replace(name=f"{place.name}.__init__"), 1))
            else:
                return None
        return found or None

    def _makes_plainly(self, place: Definition) -> bool:
        """Return whether a call of the class at ``place`` hands what it is given to its own ``__init__`` alone."""
        module = self._index.module(place.file)
        node = module.classes.get(place.name) if module else None
        return (
            node is not None
            and not node.decorator_list
            and not node.keywords
            and bool(self.definitions(place._replace(name=f"{place.name}.__init__")))
            and not self.definitions(place._replace(name=f"{place.name}.__new__"))
        )

    def _of_class(self, owner: Definition, name: str) -> Callee | None:
        place = Definition(owner.file, f"{owner.name}.{name}")
        nodes = self.definitions(place)
        if not nodes:
            return None
        return Callee(place, 1 if any("classmethod" in _decorators(node) for node in nodes) else 0)

    def _means(self, path: str, name: str) -> list[Definition] | None:
        """Return what ``name`` may mean in the file ``path``; None where something else may have been assigned."""
        module = self._index.module(path)
        if module is None:
            return None
        found: list[Definition | None] = []
        if name in module.classes or self.definitions(Definition(path, name)):
            found.append(Definition(path, name))
        for dotted, original in self._imports(path, name):
            target = self._index.file_of(dotted)
            found.append(self._index.resolve(target, original) if target and original else None)
        if name in self._assigned_in(path):
            found.append(None)
        return None if not found or None in found else sorted({place for place in found if place})

    def _imports(self, path: str, name: str) -> set[tuple[str, str | None]]:
        """Return what the file ``path`` imports under ``name``, wherever: as `ModuleIndex.imports` has it."""
        return self._imports_of(path).get(name, set())

    def _read_imports(self, path: str) -> dict[str, set[tuple[str, str | None]]]:
        module = self._index.module(path)
        found: dict[str, set[tuple[str, str | None]]] = {}
        for node in ast.walk(module.tree) if module else ():
            for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
                assert module is not None
                dotted = module.absolute(node) if isinstance(node, ast.ImportFrom) else alias.name
                original = alias.name if isinstance(node, ast.ImportFrom) else None
                found.setdefault(alias.asname or alias.name, set()).add((dotted, original))
        return found

    def _read_assigned(self, path: str) -> frozenset[str]:
        """Return the names of the file ``path`` that its top level assigns, or a function as a global."""
        module = self._index.module(path)
        tree = module.tree if module else ast.Module([], [])
        shared = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
        return frozenset(shared | {name for statement in tree.body for name in _assigned(statement)})

    def class_values(self, name: str) -> list[ast.expr]:
        """Return what the bodies of the record's classes assign to ``name``."""
        found: list[ast.expr] = []
        for place in sorted(self._facts.classes):
            module = self._index.module(place.file)
            for item in module.classes[place.name].body if module else ():
                if isinstance(item, (ast.Assign, ast.AnnAssign)) and item.value is not None:
                    targets = item.targets if isinstance(item, ast.Assign) else [item.target]
                    if any(isinstance(part, ast.Name) and part.id == name for part in targets):
                        found.append(item.value)
        return found

    # -- arguments

    def parameter(self, call: ast.Call, given: ast.expr, target: Callee) -> str | None:
        """Return as which parameter ``target`` gets the argument ``given``; None where nothing shows it."""
        names = {
            parameter
            for parameter in self.every_parameter(target.place)
            if self.argument(call, parameter, target) is given
        }
        return names.pop() if len(names) == 1 else None

    def argument(self, call: ast.Call, parameter: str, target: Callee) -> ast.expr | None:
        """Return what ``target`` gets as ``parameter``: an argument or its default; None where nothing shows it."""
        if any(isinstance(item, ast.Starred) for item in call.args) or len(self.definitions(target.place)) != 1:
            return None
        (node,) = self.definitions(target.place)
        positional = _positional(node)[target.skipped :]
        for keyword in call.keywords:
            if keyword.arg == parameter:
                return keyword.value
        if any(keyword.arg is None for keyword in call.keywords):
            return None
        if parameter in positional[: len(call.args)]:
            return call.args[positional.index(parameter)]
        return _defaults(node).get(parameter)

    # -- tuples of handlers

    def loop_over_handlers(self) -> Definition | None:
        """Return the function that is handed a record and calls what a tuple of handlers names, or None."""
        package = self._facts.record.file.partition("/")[0] + "/"
        for path in self._index.tree.names():
            if not path.startswith(package) or self._facts.record.name.encode() not in self._index.tree.read(path):
                continue
            module = self._index.module(path)
            for name, node in module.functions.items() if module else ():
                for call in ast.walk(node):
                    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                        continue
                    owner, given = call.func.value, call.args[0] if call.args else None
                    if not isinstance(owner, ast.Name) or not isinstance(given, ast.Name):
                        continue
                    if given.id in _positional(node)[:1] and self._in_loop(path, owner.id, call.func.attr, node):
                        return Definition(path, name)
        return None

    def _in_loop(self, path: str, variable: str, attribute: str, function: Scope) -> list[Callee] | None:
        """Return the methods that ``variable.attribute`` stands for where a loop goes through a tuple of them."""
        loops = [
            item
            for item in ast.walk(function)
            if isinstance(item, ast.For) and isinstance(item.target, ast.Name) and item.target.id == variable
        ]
        stores = [item for item in ast.walk(function) if isinstance(item, ast.Name) and item.id == variable]
        bound = [item for item in stores if not isinstance(item.ctx, ast.Load)]
        if len(loops) != 1 or len(bound) != 1 or not isinstance(loops[0].iter, ast.Name):
            return None
        imported = self._imports(path, loops[0].iter.id)
        if len(imported) > 1:
            return None
        dotted, original = next(iter(imported), ("", ""))
        file = self._index.file_of(dotted) if original else path
        name = original or loops[0].iter.id
        home = self._index.module(file) if file else None
        value = home.assigned.get(name) if home else None
        if not isinstance(value, ast.Tuple):
            return None
        found: list[Callee] = []
        for element in value.elts:
            named = self._methods_named(element)
            if not named:
                return None
            found += named
        return found

    def _methods_named(self, element: ast.expr) -> list[Callee]:
        nodes = list(ast.walk(element))
        if any(isinstance(node, ast.Lambda) for node in nodes):
            return []
        return [
            Callee(place)
            for node in nodes
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == self._facts.record.name
            for place in self.methods(node.attr)
        ]


def _definitions(module: ModuleIndex) -> dict[str, list[Function]]:
    found: dict[str, list[Function]] = {}

    def look(node: ast.AST, owner: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.setdefault(f"{owner}{child.name}", []).append(child)
                inside(child)
            else:
                look(child, f"{child.name}." if isinstance(child, ast.ClassDef) else owner)

    def inside(function: ast.AST) -> None:
        # Classes that a function makes count by their own name, its other functions do not count.
        for child in ast.iter_child_nodes(function):
            if isinstance(child, ast.ClassDef):
                look(child, f"{child.name}.")
            else:
                inside(child)

    look(module.tree, "")
    return found


def _assigned(statement: ast.stmt) -> Iterator[str]:
    """Yield what a statement of the top level, or inside its conditions, binds."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id


def _is_local(name: str, function: Scope | None) -> bool:
    if function is None:
        return False
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(function)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    inside = {
        bound
        for node in ast.walk(function)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for bound in bound_names(node) | parameter_names(node)
    }
    stored = {
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return name in inside and (name not in imported or name in stored)


def _decorators(node: Function) -> set[str]:
    return {ast.unparse(item).rpartition(".")[2] for item in node.decorator_list}


def _positional(node: Function) -> list[str]:
    return [item.arg for item in (*node.args.posonlyargs, *node.args.args)]


def _defaults(node: Function) -> dict[str, ast.expr]:
    positional = [*node.args.posonlyargs, *node.args.args]
    pairs = zip(positional[len(positional) - len(node.args.defaults) :], node.args.defaults, strict=True)
    found = {item.arg: value for item, value in pairs}
    for item, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if value is not None:
            found[item.arg] = value
    return found
