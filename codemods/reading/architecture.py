"""Reads the conditions that test the name of a model's architecture.

They tell for which names a condition is true, and so whether two conditions can be true for the same name. A
condition may use a collection of names that some module assigns, such as the architectures of a family.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from codemods.reading.facts import RecordFacts
from codemods.reading.index import Definition, TreeIndex
from harness.source.constants import assignments
from harness.source.nodes import Scope, is_text, texts_in
from harness.source.scopes import parameters_of

Constant = Callable[[str], Sequence[str] | None]
_ENDINGS = ("arch", "architecture")
"""A parameter whose name ends in one of these holds an architecture."""
_PARTS = ("startswith", "endswith")


@dataclass(frozen=True)
class ArchitectureTest:
    """A condition that tests one variable, which holds the name of a model's architecture."""

    variable: str
    test: ast.expr
    """The part of the condition that tests the variable."""
    names: frozenset[str] = frozenset()
    """The test is true for these architectures."""
    parts: frozenset[str] = frozenset()
    """The test may also be true for any architecture whose name contains one of these."""
    known: bool = True
    """False if ``names`` may be incomplete, because the test uses a list whose elements the source does not show."""
    before: tuple[ast.expr, ...] = ()
    after: tuple[ast.expr, ...] = ()
    """The operands of ``and`` before and after the test."""

    def overlaps(self, other: ArchitectureTest) -> bool:
        """Return whether both tests may be true for the same name."""
        # One name may fulfil two tests whose names are not all known, and it may contain a part of each.
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

    Such a name is a parameter called ``...arch`` or ``...architecture`` that is not assigned, or a local that is
    assigned once, from an expression with an attribute ``architectures``.
    """
    names = (item for item in ast.walk(node) if isinstance(item, ast.Name))
    stores = Counter(item.id for item in names if not isinstance(item.ctx, ast.Load))
    every = parameters_of(node)
    found = {name for name in every if name.endswith(_ENDINGS) and not stores[name]}
    for name, value in assignments(ast.walk(node)):
        asked = any(isinstance(part, ast.Attribute) and part.attr == "architectures" for part in ast.walk(value))
        if asked and stores[name] == 1 and name not in every:
            found.add(name)
    return frozenset(found)


def read_test(test: ast.expr, variables: Collection[str], constant: Constant) -> ArchitectureTest | None:
    """Return the test of one of ``variables`` that ``test`` is, or has as an operand of ``and``; else None.

    ``constant`` returns the strings of the collection that a module-level name holds, or None if they are not known.
    """
    operands = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    for number, part in enumerate(operands):
        found = _pure_test(part, variables, constant)
        if found is not None:
            return replace(found, before=tuple(operands[:number]), after=tuple(operands[number + 1 :]))
    return None


def _pure_test(test: ast.expr, variables: Collection[str], constant: Constant) -> ArchitectureTest | None:
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
        # ``startswith`` and ``endswith`` count as ``in``, which is true for more names: `overlaps` must not miss one.
        parts_of = written_texts(test.args[0]) or texts_in(test.args)
        return ArchitectureTest(test.func.value.id, test, parts=frozenset(parts_of)) if parts_of else None
    return None


def _compared(test: ast.Compare, variables: Collection[str], constant: Constant) -> ArchitectureTest | None:
    left, operator, right = test.left, test.ops[0], test.comparators[0]
    if isinstance(operator, ast.Eq):
        for name, value in ((left, right), (right, left)):
            if isinstance(name, ast.Name) and name.id in variables and is_text(value):
                return ArchitectureTest(name.id, test, frozenset(texts_in([value])))
    if not isinstance(operator, ast.In):
        return None
    if isinstance(right, ast.Name) and right.id in variables and is_text(left):
        return ArchitectureTest(right.id, test, parts=frozenset(texts_in([left])))
    if isinstance(left, ast.Name) and left.id in variables:
        if isinstance(right, ast.Name):
            known = constant(right.id)
            return ArchitectureTest(left.id, test, frozenset(known or ()), known=known is not None)
        names = written_texts(right)
        return ArchitectureTest(left.id, test, frozenset(names)) if names else None
    return None


_DEEPEST = 5
"""In how many modules a name is looked up, one import after another."""


def written_texts(node: ast.AST | None) -> tuple[str, ...] | None:
    """Return the elements of a tuple, list or set display if all are string literals, None for anything else."""
    if not isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return None
    texts = texts_in(node.elts)
    return tuple(texts) if len(texts) == len(node.elts) else None


def constants_of(index: TreeIndex, facts: RecordFacts) -> dict[Definition, tuple[str, ...]]:
    """Return the strings of each named collection that the files of the resolution assign or import.

    The keys are a file and the name in it. A collection is a tuple, list, set or frozenset of string literals whose
    name its module assigns once.
    """
    modules = [index.read(path) for path in facts.files]
    places = [Definition(module.path, name) for module in modules for name in (*module.assigned, *module.imports)]
    found = ((place, _assigned(index, place, _DEEPEST)) for place in places)
    return {place: texts for place, texts in found if texts}


def _assigned(index: TreeIndex, place: Definition, depth: int) -> tuple[str, ...] | None:
    module = index.read(place.file)
    value = module.assigned.get(place.name)
    if value is None:
        origin = index.located(module.imports.get(place.name))
        return _assigned(index, origin, depth - 1) if origin and depth > 1 else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "frozenset":
        value = value.args[0] if len(value.args) == 1 and not value.keywords else value
    return written_texts(value)
