"""Which names hold the record, function by function: a small analysis of our own, where a full one takes seconds.

A name counts when it is a parameter that holds a record and that nothing rebinds: the first of a method of a record
class, one annotated as such a class, one with a name known for it, one that the resolution passes a record to. A
local name that is assigned such a name, once, counts from there on. Functions inside see the names of those around.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from codemods.reading.facts import RecordFacts
from codemods.reading.index import Definition, ModuleIndex, Scope, dotted_name


class ScopeNames(NamedTuple):
    """What one function knows: ``records`` hold the record, ``source`` is the outermost function's name.

    ``of_class`` are names that hold the record's class; ``signature`` is the function's name and its parameters'.
    """

    records: frozenset[str]
    source: str
    of_class: frozenset[str] = frozenset()
    signature: tuple[str, ...] = ()


NOTHING = ScopeNames(frozenset(), "")


def record_scopes(
    module: ModuleIndex, facts: RecordFacts, also: Callable[[ast.expr], bool] | None = None
) -> dict[Scope, ScopeNames]:
    """Return the scopes of the functions and lambdas of ``module``, by their node.

    ``also`` says which further expressions give the record to a local name that is assigned one.
    """
    reader = _Reader(module, facts, also)
    reader.read_block(module.tree, NOTHING, None)
    return reader.scopes


def scopes_in_order(node: ast.AST) -> Iterator[Scope]:
    """Yield the functions and lambdas under ``node`` in the order in which their ``def`` or ``lambda`` is written."""
    found = [item for item in ast.walk(node) if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))]
    yield from sorted(found, key=_start)


def _start(node: Scope) -> tuple[int, int]:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    if decorators:
        return decorators[0].lineno, decorators[0].col_offset - 1
    return node.lineno, node.col_offset


class _Reader:
    def __init__(self, module: ModuleIndex, facts: RecordFacts, also: Callable[[ast.expr], bool] | None) -> None:
        self._also = also
        self._module = module
        self._facts = facts
        self._offered = {(dotted_name(place.file), place.name) for place in facts.classes} | facts.exports
        self._local_classes = {place.name for place in facts.classes if place.file == module.path}
        # Another class of the record's name: what has no annotation may be that one's.
        named = module.imports.get(facts.record.name)
        self._has_namesake = (named is not None and named not in self._offered) or (
            facts.record.name in module.classes and facts.record.name not in self._local_classes
        )
        self.scopes: dict[Scope, ScopeNames] = {}

    def read_block(self, node: ast.AST, around: ScopeNames, owner: ast.ClassDef | None) -> None:
        """Read what stands directly inside ``node``: functions get a scope, the rest is looked through."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                self._read_function(child, around, owner)
            elif isinstance(child, ast.ClassDef):
                self.read_block(child, around, child)
            else:
                # Statements such as ``if`` may hold the methods of a class.
                self.read_block(child, around, owner if isinstance(child, ast.stmt) else None)

    def _read_function(self, node: Scope, around: ScopeNames, owner: ast.ClassDef | None) -> None:
        bound = _bound(node)
        every = _parameters(node)
        inherited = around.records - bound.keys() - every.keys()
        holds, of_class = self._own_parameters(node, owner)
        records = {name for name in holds if name not in bound} | inherited
        for name, value in _aliases(node):
            if self._gives_record(value, records) and bound.get(name) == 1 and name not in every:
                records.add(name)
        name = around.source or ("<lambda>" if isinstance(node, ast.Lambda) else node.name)
        own = "<lambda>" if isinstance(node, ast.Lambda) else node.name
        scope = ScopeNames(frozenset(records), name, of_class - bound.keys(), (own, *every))
        self.scopes[node] = scope
        # Decorators and defaults are evaluated around the function; no record is assigned there.
        self.read_block(node, scope, None)

    def _gives_record(self, value: ast.expr, records: set[str]) -> bool:
        if isinstance(value, ast.Name):
            return value.id in records
        return self._also is not None and self._also(value)

    def _own_parameters(self, node: Scope, owner: ast.ClassDef | None) -> tuple[set[str], frozenset[str]]:
        every = _parameters(node)
        if isinstance(node, ast.Lambda):
            return {name for name in every if name in self._facts.names}, frozenset()
        holds = {name for name, annotation in every.items() if self._holds(name, annotation)}
        qualified = f"{owner.name}.{node.name}" if owner else node.name
        holds |= self._facts.passed.get(Definition(self._module.path, qualified), frozenset())
        if owner is None or owner.name not in self._local_classes or not every:
            return holds, frozenset()
        first = next(iter(every))
        decorators = {ast.unparse(item).rpartition(".")[2] for item in node.decorator_list}
        if "staticmethod" in decorators:
            return holds, frozenset()
        if "classmethod" in decorators or node.name in ("__new__", "__init_subclass__", "__class_getitem__"):
            return holds, frozenset([first])
        return holds | {first}, frozenset()

    def _holds(self, name: str, annotation: ast.expr | None) -> bool:
        if annotation is None:
            return name in self._facts.names and not self._has_namesake
        return self._names_record(annotation)

    def _names_record(self, annotation: ast.expr) -> bool:
        """Return whether ``annotation`` is a record class: by name, as a string, or optional."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                return self._names_record(ast.parse(annotation.value, mode="eval").body)
            except SyntaxError:
                return False
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            return any(self._names_record(side) for side in (annotation.left, annotation.right))
        if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value).rpartition(".")[2] == "Optional":
            return self._names_record(annotation.slice)
        if isinstance(annotation, ast.Attribute) and isinstance(annotation.value, ast.Name):
            module, name = self._module.imports.get(annotation.value.id, (annotation.value.id, None))
            return (f"{module}.{name}" if name else module, annotation.attr) in self._offered
        if not isinstance(annotation, ast.Name):
            return False
        if annotation.id in self._local_classes:
            return True
        return self._module.imports.get(annotation.id) in self._offered


def bound_names(node: Scope) -> frozenset[str]:
    """Return the names that a function binds or deletes, parameters apart."""
    return frozenset(_bound(node))


def times_bound(node: Scope) -> dict[str, int]:
    """Return how often a function binds or deletes each name, parameters apart."""
    return _bound(node)


def parameter_names(node: Scope) -> frozenset[str]:
    """Return the names of a function's parameters."""
    return frozenset(_parameters(node))


def _parameters(node: Scope) -> dict[str, ast.expr | None]:
    """Return the parameters with their annotations, in order; what stars collect is no record."""
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    starred = [item for item in (node.args.vararg, node.args.kwarg) if item]
    named: dict[str, ast.expr | None] = {item.arg: item.annotation for item in every}
    return named | {item.arg: ast.Constant(None) for item in starred}


def _bound(node: Scope) -> dict[str, int]:
    """Return how often each name is bound or deleted in the function, parameters apart.

    Comprehensions count as the function's own, and so does a name that a function inside binds as ``nonlocal``.
    """
    counts: dict[str, int] = {}

    def count(name: str | None, times: int = 1) -> None:
        if name is not None:
            counts[name] = counts.get(name, 0) + times

    def look(item: ast.AST) -> None:
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            if not isinstance(item, ast.Lambda):
                count(item.name)
            for inner in ast.walk(item):
                if isinstance(inner, ast.Nonlocal):
                    for name in inner.names:
                        count(name, 2)
            return
        if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load):
            count(item.id, 2 if isinstance(item.ctx, ast.Del) else 1)
        elif isinstance(item, (ast.Import, ast.ImportFrom)):
            for alias in item.names:
                count((alias.asname or alias.name).partition(".")[0])
        elif isinstance(item, (ast.Global, ast.Nonlocal)):
            for name in item.names:
                count(name, 2)
        elif isinstance(item, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            count(item.name)
        elif isinstance(item, ast.MatchMapping):
            count(item.rest)
        for child in ast.iter_child_nodes(item):
            look(child)

    for statement in node.body if isinstance(node.body, list) else [node.body]:
        look(statement)
    return counts


def _aliases(node: Scope) -> Iterator[tuple[str, ast.expr]]:
    """Yield (name, value) for each ``name = value`` among the function's own statements."""
    for statement in node.body if isinstance(node.body, list) else ():
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, statement.value
