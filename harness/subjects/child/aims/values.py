"""Finds the values that can matter: the fields and variables that a resolution reads, and what it compares them with.

The source of the modules that were loaded for real shows them, in comparisons such as ``x.<field> == "v"`` and
``x.<field> in (...)``. A name may stand for the constant or the list.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Collection, Iterable
from types import ModuleType
from typing import Any, TypeVar

from ....source.constants import add, assignments, literals
from ....source.functions import defined_in
from ....source.nodes import FUNCTIONS, Function, decorator_names, last_name
from ....source.reads import ENVIRONMENT_OBJECT, reads_of

_ARCHITECTURES = ("ForCausalLM", "ForConditionalGeneration", "ModelLM", "ForCausalLMNextN")


R = TypeVar("R", bound="ReadValues")


class ReadValues:
    """What a set of functions reads.

    - ``fields`` and ``environment`` map each field or variable that is read to the values it is compared with.
    - ``architectures`` are the names of model architectures that the functions mention.
    - ``trees`` has the parsed modules by name.
    """

    def __init__(self, fields: Iterable[str], modules: dict[str, ModuleType]) -> None:
        self._fields = set(fields)
        self._functions: dict[str, list[Function]] = {}
        self._constants: dict[str, list[Any]] = {}
        self.trees: dict[str, ast.Module] = {}
        for name, module in modules.items():
            self._scan(name, module)
        self.fields: dict[str, list[Any]] = {}
        self.environment: dict[str, list[Any]] = {}
        self.architectures: list[str] = []

    def parsed(self, module: Any) -> ast.Module:
        """Return the parsed module. Raises OSError, TypeError or SyntaxError if its source cannot be had."""
        return ast.parse(inspect.getsource(module))

    def _scan(self, name: str, module: Any) -> None:
        try:
            tree = self.parsed(module)
        except (OSError, TypeError, SyntaxError):
            return
        self.trees[name] = tree
        _learn(self._constants, tree.body, again=False)
        for found in defined_in(tree):
            if isinstance(found.node, FUNCTIONS):
                self._functions.setdefault(found.name, []).append(found.node)

    def follow(self: R, roots: Iterable[str]) -> R:
        """Read the functions called ``roots``, and all functions that these mention by name or lead to."""
        wanted, done = list(roots), set()
        while wanted:
            name = wanted.pop(0)
            if name not in done:
                done.add(name)
                for node in self._functions.get(name, ()):
                    wanted.extend(self._read(node))
        return self

    def follow_statements(self: R, statements: Iterable[ast.stmt]) -> R:
        """Read statements, then `follow` every function that they mention by name."""
        return self.follow([name for statement in statements for name in self._read(statement)])

    def follow_decorated(self: R, names: Collection[str]) -> R:
        """Read the functions that have one of the decorators ``names``; a registry calls them without their name."""
        every = [(name, node) for name, nodes in self._functions.items() for node in nodes]
        return self.follow([name for name, node in every if not decorator_names(node).isdisjoint(names)])

    def _read(self, function: Any) -> list[str]:
        """Read one function or statement; return the names it mentions that are functions of the tree."""
        local = dict(self._constants)
        _learn(local, ast.walk(function), again=True)
        mentioned = []
        for node in ast.walk(function):
            if isinstance(node, (ast.Attribute, ast.Name)):
                mentioned.append(last_name(node))
            elif isinstance(node, ast.Compare):
                self._read_comparison(node, local)
            elif isinstance(node, ast.Constant) and _is_architecture(node.value):
                add(self.architectures, node.value)
            self._read_names(node)
        for name in mentioned:
            for value in self._constants.get(name, ()):
                if _is_architecture(value):
                    add(self.architectures, value)
        return [name for name in mentioned if name in self._functions]

    def _read_names(self, node: Any) -> None:
        """Add the fields and variables that ``node`` itself reads. An attribute counts even if it is written."""
        if isinstance(node, ast.Attribute):
            if node.attr in self._fields:
                self.fields.setdefault(node.attr, [])
            if isinstance(node.value, ast.Name) and node.value.id == ENVIRONMENT_OBJECT:
                self.environment.setdefault(node.attr, [])
        elif isinstance(node, ast.Call):
            for read in reads_of(node):
                if read.form == "variable":
                    self.environment.setdefault(read.name, [])
                elif read.form == "getattr" and read.name in self._fields:
                    self.fields.setdefault(read.name, [])

    def _read_comparison(self, node: Any, local: dict[str, list[Any]]) -> None:
        sides = [node.left, *node.comparators]
        for subject in sides:
            for other in sides:
                target = self._target(subject) if other is not subject else None
                if target is not None:
                    for value in literals(other, local):
                        add(target, value)

    def _target(self, node: Any) -> list[Any] | None:
        """Return the list of values for the field or variable that an expression reads, None if it reads none."""
        if isinstance(node, (ast.Attribute, ast.Name)) and last_name(node) in self._fields:
            return self.fields.setdefault(last_name(node), [])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner, method = node.func.value, node.func.attr
            if method in ("lower", "upper"):
                return self._target(owner)
            if method == "get" and isinstance(owner, ast.Attribute) and last_name(owner.value) == ENVIRONMENT_OBJECT:
                return self.environment.setdefault(owner.attr, [])
        return None


def _learn(known: dict[str, list[Any]], statements: Iterable[ast.AST], again: bool) -> None:
    """Add to ``known`` the constants that statements assign to names; with ``again`` they replace known ones."""
    for name, value in assignments(statements, annotated=False):
        values = literals(value, known)
        if values and (again or name not in known):
            known[name] = values


def _is_architecture(value: Any) -> bool:
    return isinstance(value, str) and value.isidentifier() and value.endswith(_ARCHITECTURES)
