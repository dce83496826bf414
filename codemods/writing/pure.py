"""Whether evaluating an expression can do nothing but give a value: no call, no failure, no code of an object."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from codemods.writing.emit import is_literal

_SAFE = (cst.Is, cst.IsNot, cst.Equal, cst.NotEqual)


def is_pure(node: cst.BaseExpression, records: Collection[str], fields: Collection[str]) -> bool:
    """Return whether ``node`` consists of constants, ``fields`` of a name in ``records``, and tests of these.

    An ordering or a membership test can fail on a field that is None, and a plain name may be unbound: neither is
    pure, but for membership in a tuple, list or set that is written out.
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
