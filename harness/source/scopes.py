"""The names of one function: its parameters, what it binds and how often."""

import ast
from collections.abc import Iterator

from .nodes import FUNCTIONS, IMPORTS, Scope
from .writes import bare_names, imported_name, stored, targets_of


def parameters_of(scope: Scope) -> dict[str, ast.arg]:
    """Return the parameters of a function by name: the plain ones in order, then those with stars."""
    arguments = scope.args
    starred = [item for item in (arguments.vararg, arguments.kwarg) if item is not None]
    return {item.arg: item for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *starred)}


def starred_of(scope: Scope) -> frozenset[str]:
    """Return the names of the parameters that collect the remaining arguments, ``*args`` and ``**kwargs``."""
    return frozenset(item.arg for item in (scope.args.vararg, scope.args.kwarg) if item is not None)


def times_bound(scope: Scope) -> dict[str, int]:
    """Return how often a function binds each name, not counting its parameters.

    Deleting or sharing a name (``global``, ``nonlocal``) counts as two, so that the name never looks like a name with
    a single value. Bindings in comprehensions count as the function's own. A ``nonlocal`` in a function inside counts
    as sharing, too. An annotation without a value counts, because it makes the name a local one.
    """
    counts: dict[str, int] = {}
    for name, times in _bound(scope.body if isinstance(scope.body, list) else [scope.body]):
        counts[name] = counts.get(name, 0) + times
    return counts


def _bound(nodes: list[ast.stmt] | list[ast.expr]) -> Iterator[tuple[str, int]]:
    waiting: list[ast.AST] = list(nodes)
    while waiting:
        node = waiting.pop()
        for target in targets_of(node):
            if isinstance(target.node, str):
                yield target.node, 1
            else:
                names = (place.id for place in stored(target.node) if isinstance(place, ast.Name))
                yield from ((name, 2 if target.form == "deleted" else 1) for name in names)
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from ((name, 2) for name in node.names)
        if isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            inner = (item for item in ast.walk(node) if isinstance(item, ast.Nonlocal))
            yield from ((name, 2) for item in inner for name in item.names)
        else:
            waiting += ast.iter_child_nodes(node)


def bound_in(root: ast.AST) -> Iterator[str]:
    """Yield every name that is bound anywhere under ``root``, itself included: targets, imports and definitions."""
    for node in ast.walk(root):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield imported_name(node)
        elif not isinstance(node, IMPORTS):
            yield from bare_names(node)


def aliases(scope: Scope) -> Iterator[tuple[str, ast.expr]]:
    """Yield name and value of each assignment to a name that is a statement directly in the function's body."""
    for statement in scope.body if isinstance(scope.body, list) else ():
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            for target in targets_of(statement):
                if isinstance(target.node, ast.Name) and target.value is not None:
                    yield target.node.id, target.value


def scopes_in(root: ast.AST) -> list[Scope]:
    """Return the functions and lambdas under ``root``, in the order in which they begin (with decorators)."""
    found = [node for node in ast.walk(root) if isinstance(node, (*FUNCTIONS, ast.Lambda))]
    return sorted(found, key=_start)


def _start(scope: Scope) -> tuple[int, int]:
    decorators = [] if isinstance(scope, ast.Lambda) else scope.decorator_list
    if decorators:
        # A decorator begins one column earlier than its expression, with the @.
        return decorators[0].lineno, decorators[0].col_offset - 1
    return scope.lineno, scope.col_offset
