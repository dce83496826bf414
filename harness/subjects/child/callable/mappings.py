"""Reads the source of a user's function for the values that can matter, even if its argument is a mapping.

The package `aims` understands only attributes of a record and ``getenv``. So the reads of a mapping are first
rewritten as these: ``args["port"]`` and ``args.get("port", 80)`` as ``args.port``, ``os.environ["X"]`` and
``"X" in env`` as ``getenv("X")``. The rewritten code is only read, never run.
"""

from __future__ import annotations

import ast
from types import ModuleType
from typing import Any

from ..aims.values import ReadValues

_ENVIRONMENTS = ("environ", "env")
_KINDS = {"int": "int", "float": "float"}


class CallableValues(ReadValues):
    """The arguments and variables that a callable and the functions it calls read, and what they are compared with.

    ``kinds`` has the type of each variable that is converted to a number.
    """

    def __init__(self, fields: dict[str, Any], modules: dict[str, ModuleType]) -> None:
        self.kinds: dict[str, str] = {}
        super().__init__(fields, modules)

    def parsed(self, module):
        """Return the parsed module, with reads of mappings rewritten as reads of attributes."""
        return _Normal(self._fields).visit(super().parsed(module))

    def _read_names(self, node):
        super()._read_names(node)
        name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        if name in _KINDS and node.args:
            for variable in _variables_in(node.args[0]):
                self.kinds.setdefault(variable, _KINDS[name])

    def _target(self, node):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "getenv":
                return self.environment.setdefault(node.args[0].value, [])
            if node.func.id in _KINDS and node.args:
                return self._target(node.args[0])
        return super()._target(node)

    def variables(self) -> dict[str, dict[str, Any]]:
        """Return the type of each environment variable, and the values it is compared with."""
        return {
            name: {"type": self.kinds.get(name, "str"), "default": None, "compared": values}
            for name, values in sorted(self.environment.items())
        }


def _variables_in(node):
    """Return every variable that is read anywhere in an expression, as in ``getenv("A") or getenv("B")``."""
    return [
        child.args[0].value
        for child in ast.walk(node)
        if isinstance(child, ast.Call) and getattr(child.func, "id", None) == "getenv"
    ]


class _Normal(ast.NodeTransformer):
    """Rewrites reads of mappings as reads of attributes, and renames whatever has a name that ends with "config"."""

    def __init__(self, fields):
        self._fields = fields

    def _read_of(self, base, key, node):
        """Return the read of ``key`` from ``base`` as ``base.key`` or ``getenv(key)``; None if it reads neither."""
        if not isinstance(key, ast.Constant) or type(key.value) is not str:
            return None
        name = getattr(base, "attr", getattr(base, "id", ""))
        if name in _ENVIRONMENTS:
            made = ast.Call(ast.Name("getenv", ast.Load()), [key], [])
        elif key.value in self._fields:
            made = ast.Attribute(base, key.value, ast.Load())
        else:
            return None
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def visit_Subscript(self, node):
        node = self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return self._read_of(node.value, node.slice, node) or node

    def visit_Call(self, node):
        node = self.generic_visit(node)
        function, made = node.func, None
        if isinstance(function, ast.Attribute) and node.args:
            if function.attr in ("get", "pop"):
                made = self._read_of(function.value, node.args[0], node)
            elif function.attr == "getenv":
                made = self._read_of(ast.Name("environ", ast.Load()), node.args[0], node)
        elif getattr(function, "id", None) == "getenv" and node.args:
            made = self._read_of(ast.Name("environ", ast.Load()), node.args[0], node)
        return made or node

    def visit_Compare(self, node):
        node = self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            read = self._read_of(node.comparators[0], node.left, node)
            if read is not None:
                operation = ast.IsNot() if isinstance(node.ops[0], ast.In) else ast.Is()
                made = ast.Compare(read, [operation], [ast.Constant(None)])
                return ast.fix_missing_locations(ast.copy_location(made, node))
        return node

    # `aims.terms` assumes that an object whose name ends with "config" is the model's configuration, and does not
    # count its attributes as arguments. A user's argument may well be called
    # ``config``, so every such name gets another ending.

    def visit_Name(self, node):
        node.id = renamed(node.id)
        return node

    def visit_arg(self, node):
        node.arg = renamed(node.arg)
        return node

    def visit_Attribute(self, node):
        node = self.generic_visit(node)
        if node.attr not in self._fields:
            node.attr = renamed(node.attr)
        return node

    def visit_keyword(self, node):
        node = self.generic_visit(node)
        if node.arg is not None and node.arg not in self._fields:
            node.arg = renamed(node.arg)
        return node

    def visit_FunctionDef(self, node):
        node = self.generic_visit(node)
        node.name = renamed(node.name)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef


def renamed(name: str) -> str:
    """Return the name that stands for ``name`` in the rewritten code."""
    return f"{name}_" if name.lower().endswith("config") else name
