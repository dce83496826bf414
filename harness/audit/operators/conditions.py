"""Makes faults in conditions: wrong comparisons, negated or fixed tests, lost operands, wrong branches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

import libcst as cst

from harness.audit.operators.operator import Edit, FaultContext, operator
from harness.audit.reading.constants import constant, is_constant
from harness.audit.reading.files import TextSpan
from harness.audit.reading.vocabulary import name_of
from harness.audit.reading.walk import CodeNode, is_condition

_NEIGHBOURS: Final[Mapping[type[cst.BaseCompOp], str]] = {
    cst.Equal: "!=",
    cst.NotEqual: "==",
    cst.LessThan: "<=",
    cst.LessThanEqual: "<",
    cst.GreaterThan: ">=",
    cst.GreaterThanEqual: ">",
    cst.In: "not in",
    cst.NotIn: "in",
    cst.Is: "is not",
    cst.IsNot: "is",
}
_OPPOSITES: Final = (cst.Equal, cst.NotEqual, cst.Is, cst.IsNot, cst.In, cst.NotIn)


@operator
def comparisons(node: cst.Comparison, context: FaultContext) -> Iterator[Edit]:
    """A comparison becomes its neighbour, such as ``!=`` for ``==``, ``not in`` for ``in``, or ``<=`` for ``<``."""
    for part in node.comparisons:
        yield context.becomes(part.operator, _NEIGHBOURS[type(part.operator)], "guard")


@operator
def swapped_connectives(node: cst.BooleanOperation, context: FaultContext) -> Iterator[Edit]:
    """An ``and`` becomes ``or``, or an ``or`` becomes ``and``.

    No parentheses are added, so the operands may also group in another way.
    """
    yield context.becomes(node.operator, "or" if isinstance(node.operator, cst.And) else "and", "guard")


@operator
def fixed_conditions(node: cst.BaseExpression, context: FaultContext) -> Iterator[Edit]:
    """The test of an if, conditional expression or comprehension becomes True or False; that of an assert, True."""
    parent = context.parent
    # A loop whose test is True never ends, and every gate catches that as a timeout.
    if not is_condition(parent, node) or isinstance(parent, cst.While):
        return
    if context.file.text_of(node) not in ("True", "False"):
        yield context.becomes(node, "True", "guard")
        if not isinstance(parent, cst.Assert):
            yield context.becomes(node, "False", "guard")


@operator
def negated_conditions(node: cst.BaseExpression, context: FaultContext) -> Iterator[Edit]:
    """The test of an if, elif, while, assert, conditional expression or comprehension becomes its negation."""
    if not is_condition(context.parent, node):
        return
    text = context.file.text_of(node)
    match node:
        case cst.UnaryOperation(operator=cst.Not()):
            text = context.file.outer_text(node.expression)
        case cst.Name() | cst.Attribute() | cst.Call():
            text = f"not {text}"
        case cst.Comparison(comparisons=[part]) if isinstance(part.operator, _OPPOSITES):
            # `comparisons` makes the same fault.
            return
        case _:
            text = f"not ({text})"
    yield context.becomes(node, text, "guard")


@operator
def dropped_operands(node: cst.BooleanOperation, context: FaultContext) -> Iterator[Edit]:
    """A chain of ``and``, or of ``or``, loses one of its operands."""
    if _continues(context.parent, node):
        # The longer chain around this one drops the same operands.
        return
    text = context.file.text
    start, end = context.file.span(node)
    spans = [context.file.outer(operand) for operand in _operands(node)]
    for index, span in enumerate(spans):
        before = text[start : spans[index - 1].end] if index else ""
        after = text[span.end if index else spans[1].start : end]
        yield context.becomes(node, before + after, "guard")


def _operands(node: cst.BooleanOperation) -> list[cst.BaseExpression]:
    """Return the operands of a whole chain of ``and``, or of ``or``, from left to right."""
    left = node.left
    first = _operands(left) if isinstance(left, cst.BooleanOperation) and _continues(node, left) else [left]
    return [*first, node.right]


def _continues(outer: cst.CSTNode, node: cst.BooleanOperation) -> bool:
    """Return whether ``node`` is the start of a longer chain ``outer``, as ``a and b`` is in ``a and b and c``."""
    return (
        isinstance(outer, cst.BooleanOperation)
        and outer.left is node
        and not node.lpar
        and type(outer.operator) is type(node.operator)
    )


@operator
def contained_names(node: cst.Comparison, context: FaultContext) -> Iterator[Edit]:
    """Equality with a text becomes containment (``x == "a"`` becomes ``"a" in str(x)``), or the other way round.

    An equality is changed only if the vocabulary has a longer text that contains this one: otherwise both tests would
    give the same result.
    """
    if len(node.comparisons) != 1:
        return
    (part,) = node.comparisons
    match part.operator:
        case cst.Equal() | cst.NotEqual() if _is_text(part.comparator):
            here = CodeNode(part.comparator, (*context.here.ancestors, node, part), "guard")
            text = constant(part.comparator)
            if any(isinstance(other, str) and str(text) in other for other in _others(here, context)):
                word = "in" if isinstance(part.operator, cst.Equal) else "not in"
                left = context.file.outer_text(node.left)
                yield context.becomes(node, f"{context.file.text_of(part.comparator)} {word} str({left})", "guard")
        case cst.In() | cst.NotIn() if isinstance(part.comparator, cst.Name | cst.Attribute) and _is_text(node.left):
            yield context.becomes(part.operator, "==" if isinstance(part.operator, cst.In) else "!=", "guard")


def _is_text(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleString) and is_constant(node) and bool(constant(node))


def _others(here: CodeNode, context: FaultContext) -> list[object]:
    return [*context.vocabulary.others(name_of(here), constant(here.node))]


@operator
def fallthrough(node: cst.If | cst.IndentedBlock | cst.Module, context: FaultContext) -> Iterator[Edit]:
    """An elif or else becomes an if of its own, or an if becomes the elif of the one before it.

    There is no fault if every branch before it leaves the block (returns, raises, ...): both forms then do the same.
    """
    if not isinstance(node, cst.If):
        for first, second in pairwise(node.body):
            if isinstance(first, cst.If) and isinstance(second, cst.If):
                chain = _chain_from(first)
                if chain[-1].orelse is None and not _all_leave(chain):
                    yield _keyword(second, context, "if", "elif")
    elif node.orelse is not None and not _all_leave(_chain_to(node, context)):
        old, new = ("elif", "if") if isinstance(node.orelse, cst.If) else ("else", "if True")
        yield _keyword(node.orelse, context, old, new)


def _chain_from(node: cst.If) -> list[cst.If]:
    """Return ``node`` and each elif that follows it."""
    chain = [node]
    while isinstance(chain[-1].orelse, cst.If):
        chain.append(chain[-1].orelse)
    return chain


def _chain_to(node: cst.If, context: FaultContext) -> list[cst.If]:
    """Return ``node`` and, if it is an elif, each branch before it, the nearest first."""
    chain = [node]
    for outer in reversed(context.here.ancestors):
        if not isinstance(outer, cst.If) or outer.orelse is not chain[-1]:
            break
        chain.append(outer)
    return chain


def _all_leave(chain: list[cst.If]) -> bool:
    return all(_leaves(one.body) for one in chain)


def _leaves(body: cst.CSTNode) -> bool:
    """Return whether a block or statement always leaves, so that the statement after it is not reached."""
    if isinstance(body, cst.BaseSuite | cst.SimpleStatementLine):
        return bool(body.body) and _leaves(body.body[-1])
    if isinstance(body, cst.If):
        chain = _chain_from(body)
        end = chain[-1].orelse
        return isinstance(end, cst.Else) and _leaves(end.body) and _all_leave(chain)
    return isinstance(body, cst.Return | cst.Raise | cst.Continue | cst.Break)


def _keyword(node: cst.CSTNode, context: FaultContext, keyword: str, text: str) -> Edit:
    """Return the edit that replaces ``keyword``, with which ``node`` begins, by ``text``."""
    start, _ = context.file.span(node)
    assert context.file.text.startswith(keyword, start)
    return Edit(TextSpan(start, start + len(keyword)), text, "guard")
