"""What is decided: the single conditions of a function or module, each with a branch for true and one for false.

A decision is a condition that is not put together from others: a test of ``if``, ``while``, ``assert``, of a
conditional expression or a comprehension, a guard of ``case``, an operand of ``and``, ``or`` and ``not``. A
comparison is a decision wherever it is written, even outside a test.
"""

import ast
from collections.abc import Iterator
from typing import Final

_LITERALS: Final = (ast.Constant, ast.Dict, ast.JoinedStr, ast.List, ast.Set, ast.Tuple)


def conditions_of(node: ast.AST) -> list[ast.expr]:
    """Return the tests by which ``node`` chooses what to do, each as a whole: ``a and b`` is one."""
    if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        return [node.test]
    if isinstance(node, ast.comprehension):
        return node.ifs
    return [node.guard] if isinstance(node, ast.match_case) and node.guard is not None else []


def decisions_of(node: ast.AST) -> list[ast.expr]:
    """Return the decisions that ``node`` itself makes, not those of the nodes inside it."""
    # This runs for every node of every file in each child process. Most nodes are names, which decide nothing.
    if type(node) not in _DECIDING:
        return []
    if isinstance(node, ast.Compare):
        return [node]
    if isinstance(node, ast.BoolOp):
        operands = node.values
    elif isinstance(node, ast.UnaryOp):
        operands = [node.operand] if isinstance(node.op, ast.Not) else []
    else:
        operands = conditions_of(node)
    return [operand for operand in operands if _is_single(operand)]


def decisions_in(root: ast.AST) -> Iterator[ast.expr]:
    """Yield all decisions under ``root``, itself included, in no order."""
    for node in ast.walk(root):
        yield from decisions_of(node)


_DECIDING: Final[frozenset[type[ast.AST]]] = frozenset(
    (
        ast.If,
        ast.While,
        ast.IfExp,
        ast.Assert,
        ast.comprehension,
        ast.match_case,
        ast.BoolOp,
        ast.UnaryOp,
        ast.Compare,
    )
)


def _is_single(test: ast.expr) -> bool:
    """Return whether a test is one decision, to be reported for the node that contains it.

    A combination is none, because its operands are decisions. A comparison is reported for its own node. A literal
    always has the same result.
    """
    if isinstance(test, ast.UnaryOp):
        return not isinstance(test.op, ast.Not)
    return not isinstance(test, (ast.BoolOp, ast.Compare)) and not _is_written_out(test)


def _is_written_out(node: ast.expr) -> bool:
    """Return whether a value is a literal, or one of two literals between which a test chooses."""
    if isinstance(node, ast.IfExp):
        return _is_written_out(node.body) and _is_written_out(node.orelse)
    return isinstance(node, _LITERALS)
