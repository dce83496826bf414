"""Makes faults in declarations and tables: a key, a member, or everything that was declared is lost."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operators.operator import Edit, FaultContext, operator
from harness.audit.reading.displays import without_each
from harness.audit.reading.walk import assigned


@operator
def dropped_keys(node: cst.Dict, context: FaultContext) -> Iterator[Edit]:
    """A dict display loses one of its items."""
    for text in without_each(node, context.file):
        yield context.becomes(node, text)


@operator
def dropped_members(node: cst.Tuple | cst.List | cst.Set, context: FaultContext) -> Iterator[Edit]:
    """A tuple, list or set that ``in`` searches, or that a loop goes through, loses one of its members."""
    if _is_searched(context) or context.vocabulary.is_table(_table_name(context)):
        for text in without_each(node, context.file):
            yield context.becomes(node, text, "guard")


def _is_searched(context: FaultContext) -> bool:
    parent = context.parent
    if isinstance(parent, cst.For | cst.CompFor):
        return parent.iter is context.here.node
    return isinstance(parent, cst.ComparisonTarget) and isinstance(parent.operator, cst.In | cst.NotIn)


def _table_name(context: FaultContext) -> str:
    """Return the plain name to which a display is assigned, or the empty string.

    The display may be the whole value, a branch of a conditional expression, or an argument of ``frozenset()``.
    """
    inner = context.here.node
    for outer in reversed(context.here.ancestors):
        if isinstance(outer, cst.Assign | cst.AnnAssign):
            target = assigned(outer)[0]
            return target.value if isinstance(target, cst.Name) else ""
        if not isinstance(outer, cst.IfExp | cst.Arg | cst.Call) or (
            isinstance(outer, cst.IfExp) and inner is outer.test
        ):
            return ""
        inner = outer
    return ""


@operator
def dropped_declarations(node: cst.AugAssign | cst.Return, context: FaultContext) -> Iterator[Edit]:
    """A function that returns a dict of several keys returns an empty one; or ``|=`` becomes ``=``."""
    if isinstance(node, cst.AugAssign):
        if isinstance(node.operator, cst.BitOrAssign):
            yield context.becomes(node.operator, "=", "write")
    elif node.value is not None and _is_declared(node.value, context):
        yield context.becomes(node.value, "{}", "write")


def _is_declared(value: cst.BaseExpression, context: FaultContext) -> bool:
    if isinstance(value, cst.Dict):
        # For a dict of one key, `dropped_keys` makes the same fault.
        return len(value.elements) > 1
    functions = context.here.functions()
    return (
        isinstance(value, cst.Name)
        and bool(functions)
        and any(_makes_dict(statement, value.value) for statement in functions[-1].body.body)
    )


def _makes_dict(statement: cst.CSTNode, name: str) -> bool:
    """Return whether a statement assigns a dict display to ``name``."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Assign() | cst.AnnAssign() as first, *_]):
            named = [target.value for target in assigned(first) if isinstance(target, cst.Name)]
            return isinstance(first.value, cst.Dict) and name in named
    return False
