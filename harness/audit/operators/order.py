"""Makes faults in order: an entry of an explicit list is lost or moved, two statements or checks are exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import libcst as cst

from harness.audit.operators.operator import Edit, FaultContext, operator
from harness.audit.reading.constants import is_constant
from harness.audit.reading.displays import entries_of, item_span, reordered, without_each
from harness.audit.reading.walk import assigned, is_field_write, is_text_call, last_name, written_names


@operator
def dropped_entries(node: cst.Tuple | cst.List, context: FaultContext) -> Iterator[Edit]:
    """An explicit list of what runs loses an entry, so that a slot or a pass never runs."""
    if entries_of(context.here):
        for text in without_each(node, context.file):
            yield context.becomes(node, text, "order")


@operator
def swapped_entries(node: cst.Tuple | cst.List, context: FaultContext) -> Iterator[Edit]:
    """Two neighbours in an explicit list of what runs are exchanged."""
    for first, second in pairwise(item_span(entry, context.file) for entry in entries_of(context.here)):
        yield Edit(*reordered([first, second], [1, 0], context.file), "order")


@operator
def moved_entries(node: cst.Tuple | cst.List, context: FaultContext) -> Iterator[Edit]:
    """An entry of an explicit list of what runs becomes the first or last, unless that exchanges two neighbours."""
    spans = [item_span(entry, context.file) for entry in entries_of(context.here)]
    for index in range(len(spans)):
        # An exchange of neighbours is a fault of `swapped_entries`.
        rest = [other for other in range(len(spans)) if other != index]
        if index > 1:
            yield Edit(*reordered(spans, [index, *rest], context.file), "order")
        if index < len(spans) - 2:
            yield Edit(*reordered(spans, [*rest, index], context.file), "order")


def _exchanged(first: cst.CSTNode, second: cst.CSTNode, context: FaultContext) -> Edit:
    """Return the edit that exchanges two nodes."""
    spans = [context.file.span(first), context.file.span(second)]
    return Edit(*reordered(spans, [1, 0], context.file), "order")


@operator
def swapped_checks(node: cst.IndentedBlock | cst.Module, context: FaultContext) -> Iterator[Edit]:
    """Two neighbouring checks that raise different errors are exchanged; only a case that both refuse can show it."""
    for first, second in pairwise(node.body):
        raised = _raised(first), _raised(second)
        # If both raise the same error, an exchange would change only the message.
        if all(raised) and raised[0] != raised[1]:
            yield _exchanged(first, second, context)


def _raised(statement: cst.CSTNode) -> str:
    """Return the name of the error that a check raises; empty for a statement that is no check."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Assert()]):
            return "AssertionError"
        case cst.If(orelse=None, body=cst.BaseSuite(body=[cst.SimpleStatementLine(body=[cst.Raise(exc=error), *_])])):
            return last_name(error) if error else ""
    return ""


@operator
def swapped_statements(node: cst.IndentedBlock, context: FaultContext) -> Iterator[Edit]:
    """Two neighbouring statements of a function, each of which writes a field or calls something, are exchanged."""
    if context.here.functions():
        for first, second in pairwise(node.body):
            if _acts(first) and _acts(second) and not _independent(first, second):
                yield _exchanged(first, second, context)


_PARTS = (cst.BaseStatement, cst.BaseSmallStatement, cst.BaseSuite, cst.Else)


def _acts(statement: cst.CSTNode) -> bool:
    """Return whether a statement, or one inside it, writes a field or calls something for its effect."""
    if isinstance(statement, cst.FunctionDef | cst.ClassDef | cst.Return | cst.Raise):
        return False
    if is_field_write(statement):
        return True
    if isinstance(statement, cst.Expr):
        return isinstance(statement.value, cst.Call) and not is_text_call(statement.value)
    return any(_acts(child) for child in statement.children if isinstance(child, _PARTS))


def _independent(first: cst.CSTNode, second: cst.CSTNode) -> bool:
    """Return whether two statements do the same in either order, so that exchanging them would be no fault.

    That is so if both write constants to different names, or if both only fill different keys of dicts.
    """
    keys = _filled_keys(first), _filled_keys(second)
    if keys[0] and keys[1] and not keys[0] & keys[1]:
        return True
    one, other = _constant_write(first), _constant_write(second)
    return one is not None and other is not None and not one & other


def _filled_keys(statement: cst.CSTNode) -> set[tuple[str, str]]:
    """Return each item that a statement assigns, as the name of the dict and the constant key.

    The result is empty if the statement also does something else, or if it reads a dict that it fills: it may then
    read what the other statement assigned.
    """
    keys: set[tuple[str, str]] = set()
    read: set[str] = set()
    if not _only_fills(statement, keys, read) or {name for name, _ in keys} & read:
        return set()
    return keys


_OTHER_EFFECTS = (
    cst.Expr,
    cst.AugAssign,
    cst.AnnAssign,
    cst.Raise,
    cst.Assert,
    cst.Return,
    cst.For,
    cst.While,
    cst.With,
    cst.Try,
    cst.NamedExpr,
    cst.Del,
)


def _only_fills(node: cst.CSTNode, keys: set[tuple[str, str]], read: set[str]) -> bool:
    """Return whether ``node`` only assigns items. Adds these to ``keys``, and all names that it reads to ``read``."""
    if isinstance(node, cst.Assign):
        names = written_names(node)
        for target in assigned(node):
            if not isinstance(target, cst.Subscript) or not isinstance(target.value, cst.Name) or not names:
                return False
            keys |= {(target.value.value, name) for name in names}
        return _only_fills(node.value, keys, read)
    if isinstance(node, cst.Name):
        read.add(node.value)
    return not isinstance(node, _OTHER_EFFECTS) and all(_only_fills(child, keys, read) for child in node.children)


def _constant_write(statement: cst.CSTNode) -> set[str] | None:
    """Return the names that a statement sets to constants (``x = 1``, ``X.set(1)``); None for any other statement."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Assign() as small]) if _is_plain(small.value):
            return {last_name(target) for target in assigned(small)}
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=cst.Attribute() as func, args=args))]):
            if func.attr.value == "set" and all(_is_plain(arg.value) for arg in args):
                return {last_name(func.value)}
    return None


def _is_plain(value: cst.BaseExpression) -> bool:
    """Return whether a value is a literal, or an attribute in capitals (a constant of a class or module)."""
    if isinstance(value, cst.Attribute):
        return value.attr.value.isupper()
    return is_constant(value) or isinstance(value, cst.SimpleString)
