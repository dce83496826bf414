"""Constants in a syntax tree: literals, and members of a class such as ``Backend.FULL``."""

from __future__ import annotations

import ast

import libcst as cst

ConstantValue = str | int | float | bool | None


def is_constant(node: cst.CSTNode) -> bool:
    """Return whether ``node`` is a literal text (not bytes) or number, True, False or None."""
    if isinstance(node, cst.Name):
        return node.value in ("True", "False", "None")
    if isinstance(node, cst.SimpleString):
        return "b" not in node.prefix.lower()
    return isinstance(node, cst.Integer | cst.Float)


def is_member(node: cst.CSTNode) -> bool:
    """Return whether ``node`` is a constant of a class, as ``Backend.FULL`` is."""
    if not isinstance(node, cst.Attribute) or not isinstance(node.value, cst.Name):
        return False
    owner = node.value.value
    return node.attr.value.isupper() and owner[:1].isupper() and not owner.isupper()


def constant(node: cst.CSTNode) -> ConstantValue:
    """Return the value of a node for which `is_constant` holds."""
    assert isinstance(node, cst.SimpleString | cst.Integer | cst.Float | cst.Name)
    value: ConstantValue = ast.literal_eval(node.value)
    return value
