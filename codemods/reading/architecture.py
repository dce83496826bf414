"""Tests of a model's architecture: which names they are true for, and whether two can be true for the same one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from codemods.reading.index import Scope
from codemods.reading.scopes import parameter_names

_ENDINGS = ("arch", "architecture")
_PARTS = ("startswith", "endswith")


@dataclass(frozen=True)
class ArchitectureTest:
    """A condition that asks the name ``variable`` alone, as ``test``; ``before`` and ``after`` are asked besides.

    ``names`` are the names it is true for, ``parts`` what any other name it is true for holds; ``known`` is False
    where a list of names is not written out.
    """

    variable: str
    test: ast.expr
    names: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    known: bool = True
    before: tuple[ast.expr, ...] = ()
    after: tuple[ast.expr, ...] = ()

    def overlaps(self, other: ArchitectureTest) -> bool:
        """Return whether both may be true for one name."""
        if not (self.known and other.known) or (self.parts and other.parts):
            return True
        return bool(self.names & other.names) or any(
            part in name
            for parts, names in ((self.parts, other.names), (other.parts, self.names))
            for part in parts
            for name in names
        )


def architecture_names(node: Scope) -> frozenset[str]:
    """Return the names that hold a model's architecture all through the function ``node``.

    Such a name is a parameter called so, or a local assigned once, from an attribute ``architectures``.
    """
    stored: dict[str, list[ast.AST]] = {}
    for item in ast.walk(node):
        if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load):
            stored.setdefault(item.id, []).append(item)
    found = {name for name in parameter_names(node) if name.endswith(_ENDINGS) and name not in stored}
    for item in ast.walk(node):
        if isinstance(item, (ast.Assign, ast.AnnAssign)) and item.value is not None:
            targets = item.targets if isinstance(item, ast.Assign) else [item.target]
            asked = any(
                isinstance(part, ast.Attribute) and part.attr == "architectures" for part in ast.walk(item.value)
            )
            if asked and len(targets) == 1 and isinstance(targets[0], ast.Name):
                name = targets[0].id
                if len(stored[name]) == 1 and name not in parameter_names(node):
                    found.add(name)
    return frozenset(found)


def read_test(
    test: ast.expr, variables: Collection[str], constant: Callable[[str], Sequence[str] | None]
) -> ArchitectureTest | None:
    """Return what ``test`` asks of one of ``variables``, or None when it asks no architecture, or more than whether.

    ``constant`` gives the strings that a module-level name stands for, or None.
    """
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for number, part in enumerate(test.values):
            found = _pure_test(part, variables, constant)
            if found is not None:
                return replace(found, before=tuple(test.values[:number]), after=tuple(test.values[number + 1 :]))
        return None
    return _pure_test(test, variables, constant)


def _pure_test(
    test: ast.expr, variables: Collection[str], constant: Callable[[str], Sequence[str] | None]
) -> ArchitectureTest | None:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        parts = [_pure_test(item, variables, constant) for item in test.values]
        found = [item for item in parts if item is not None]
        if len(found) < len(parts) or len({item.variable for item in found}) > 1:
            return None
        return ArchitectureTest(
            found[0].variable,
            test,
            frozenset().union(*(item.names for item in found)),
            frozenset().union(*(item.parts for item in found)),
            all(item.known for item in found),
        )
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(test, variables, constant)
    if (
        isinstance(test, ast.Call)
        and isinstance(test.func, ast.Attribute)
        and test.func.attr in _PARTS
        and isinstance(test.func.value, ast.Name)
        and test.func.value.id in variables
        and len(test.args) == 1
        and not test.keywords
    ):
        parts_of = _strings(test.args[0]) or _one(test.args[0])
        return ArchitectureTest(test.func.value.id, test, parts=frozenset(parts_of)) if parts_of else None
    return None


def _compared(
    test: ast.Compare, variables: Collection[str], constant: Callable[[str], Sequence[str] | None]
) -> ArchitectureTest | None:
    left, operator, right = test.left, test.ops[0], test.comparators[0]
    if isinstance(operator, ast.Eq):
        for name, value in ((left, right), (right, left)):
            if isinstance(name, ast.Name) and name.id in variables and _one(value):
                return ArchitectureTest(name.id, test, frozenset(_one(value)))
    if not isinstance(operator, ast.In):
        return None
    if isinstance(right, ast.Name) and right.id in variables and _one(left):
        return ArchitectureTest(right.id, test, parts=frozenset(_one(left)))
    if isinstance(left, ast.Name) and left.id in variables:
        if isinstance(right, ast.Name):
            known = constant(right.id)
            return ArchitectureTest(left.id, test, frozenset(known or ()), known=known is not None)
        names = _strings(right)
        return ArchitectureTest(left.id, test, frozenset(names)) if names else None
    return None


def _one(node: ast.expr) -> tuple[str, ...]:
    return (node.value,) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ()


def _strings(node: ast.expr) -> tuple[str, ...]:
    """Return the strings of a tuple, list or set that is written out, or nothing."""
    if not isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return ()
    found = [text for item in node.elts for text in _one(item)]
    return tuple(found) if len(found) == len(node.elts) else ()


def written_names(value: ast.expr | None) -> tuple[str, ...] | None:
    """Return the strings of a collection that an assignment writes out, or None for anything else."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "frozenset":
        value = value.args[0] if len(value.args) == 1 and not value.keywords else None
    return (_strings(value) or None) if value is not None else None
