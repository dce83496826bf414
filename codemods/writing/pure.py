"""Tells whether evaluating an expression only gives a value: it calls nothing, and cannot fail."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from codemods.writing.emit import is_literal

_SAFE = (cst.Is, cst.IsNot, cst.Equal, cst.NotEqual)


def is_pure(node: cst.BaseExpression, records: Collection[str], fields: Collection[str]) -> bool:
    """Return whether ``node`` consists of constants, ``fields`` of a name in ``records``, and tests of these.

    Not pure are: a name other than a record, since it may be unbound; an ordering and a membership test, since they
    fail on a field that is None. But membership in a tuple or list display is pure.
    """
    if is_literal(node) or (isinstance(node, cst.Name) and node.value in records):
        return True
    if isinstance(node, cst.Attribute):
        return isinstance(node.value, cst.Name) and node.value.value in records and node.attr.value in fields
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.operator, cst.Not) and is_pure(node.expression, records, fields)
    if isinstance(node, cst.BooleanOperation):
        return is_pure(node.left, records, fields) and is_pure(node.right, records, fields)
    if isinstance(node, (cst.Tuple, cst.List)):
        return all(isinstance(item, cst.Element) and is_pure(item.value, records, fields) for item in node.elements)
    if isinstance(node, cst.Comparison):
        return is_pure(node.left, records, fields) and all(
            is_pure(target.comparator, records, fields) and _cannot_fail(target) for target in node.comparisons
        )
    return False


def _cannot_fail(target: cst.ComparisonTarget) -> bool:
    if isinstance(target.operator, (cst.In, cst.NotIn)):
        return isinstance(target.comparator, (cst.Tuple, cst.List))
    return isinstance(target.operator, _SAFE)
