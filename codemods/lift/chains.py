"""Takes branches out of an ``if`` chain and makes providers of them.

A branch can become a provider if it tests the model's architecture and excludes all other branches.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import NamedTuple

import libcst as cst
import libcst.matchers as m

from codemods.lift.handler import Handler
from codemods.lift.live import Later
from codemods.lift.regions import CannotLift, Needs, Regions
from codemods.reading.architecture import ArchitectureTest, read_test
from codemods.writing.emit import code


class Branch(NamedTuple):
    """One branch of an ``if`` chain: a condition with its block.

    ``node`` still has the rest of the chain as its ``orelse``; ``tree`` and ``source`` are the branch alone. ``asks``
    is how the condition tests the architecture, None if it does not.
    """

    node: cst.If
    tree: ast.If
    source: str
    asks: ArchitectureTest | None

    def text(self, node: ast.expr) -> str:
        """Return the source text of ``node``, a part of the branch's condition."""
        return ast.get_source_segment(self.source, node) or ast.unparse(node)


class ProviderBranch(NamedTuple):
    """A branch that becomes a provider: ``body`` are the provider's statements, ``needs`` what they need."""

    branch: Branch
    body: tuple[cst.BaseStatement, ...]
    needs: Needs


def branches(node: cst.If, variables: Collection[str], handler: Handler) -> tuple[list[Branch], bool]:
    """Return the branches of the chain that begins with ``node``, and whether it ends in an ``else``.

    ``variables`` are the names that hold the architecture.
    """
    found = []
    item: cst.If | cst.Else | None = node
    while isinstance(item, cst.If):
        source = code(item.with_changes(orelse=None, leading_lines=[]))
        tree = ast.parse(source).body[0]
        assert isinstance(tree, ast.If)
        found.append(Branch(item, tree, source, read_test(tree.test, variables, handler.constant)))
        item = item.orelse
    return found, item is not None


class Chains:
    """Takes branches out of the chains of one handler."""

    def __init__(self, handler: Handler, regions: Regions) -> None:
        self._handler = handler
        self._regions = regions

    def take(
        self, found: Sequence[Branch], ends_in_else: bool, certain: Collection[str], later: Later
    ) -> list[ProviderBranch]:
        """Return the branches that become providers: unless forced, only those that exclude all other branches.

        The call of the providers runs before what remains of the chain. So an architecture that a provider is for
        must fail the tests of all other branches: "if arch == 'A': ... elif 'A' in arch: ..." runs one block for 'A',
        but would run two. A chain with an ``else`` gives no provider, because the ``else`` would run for the
        provider's architectures too.
        """
        taken = []
        for branch in found:
            body = self._body(branch)
            if body is None:
                continue
            others = [other for other in found if other is not branch]
            if not self._handler.force and (ends_in_else or any(self._may_meet(branch, other) for other in others)):
                continue
            try:
                needs = self._regions.judge([ast.parse(code(item)).body[0] for item in body], certain, later)
            except CannotLift:
                continue
            taken.append(ProviderBranch(branch, body, needs))
        # One call runs all providers, and it takes one variable: a chain whose branches test two stays as it is.
        variables = {item.branch.asks.variable for item in taken if item.branch.asks}
        return taken if len(variables) == 1 else []

    def _body(self, branch: Branch) -> tuple[cst.BaseStatement, ...] | None:
        """Return the statements of the provider for a branch, or None if the branch cannot become one.

        They are the branch's block, inside an ``if`` for whatever its condition tests besides the architecture.
        """
        asks = branch.asks
        if asks is None or not self._handler.is_ours(self._handler.declares(branch.tree.body)):
            return None
        if not isinstance(branch.node.body, cst.IndentedBlock) or m.findall(branch.node.test, m.Comment()):
            return None
        # A provider's test cannot read locals of the handler. And it comes first: the operands that stood before it
        # in the condition are now evaluated after it, or not at all, so they must be pure.
        named = {item.id for item in ast.walk(asks.test) if isinstance(item, ast.Name)} - {asks.variable}
        if named & self._handler.locals or not all(self._handler.is_pure(item) for item in asks.before):
            return None
        rest = [*asks.before, *asks.after]
        if not rest:
            first, *more = branch.node.body.body
            lines = [*branch.node.leading_lines, *getattr(first, "leading_lines", ())]
            return (first.with_changes(leading_lines=lines), *more)
        joined = [_operand(branch.text(item), item, len(rest) > 1) for item in rest]
        head = f"if {' and '.join(joined)}:"
        if len(head) > _WIDE or "\n" in head:
            head = "if (\n    " + "\n    and ".join(joined) + "\n):"
        statement = cst.parse_statement(f"{head}\n    pass\n")
        return (statement.with_changes(body=branch.node.body, leading_lines=branch.node.leading_lines),)

    def _may_meet(self, branch: Branch, other: Branch) -> bool:
        """Return whether both conditions may be true for one architecture, or testing ``other`` too may do something.

        In the chain, ``other`` is only tested if no branch before it is taken; after a provider it is always tested.
        """
        assert branch.asks is not None
        return (
            other.asks is None
            or branch.asks.variable != other.asks.variable
            or branch.asks.overlaps(other.asks)
            or not all(self._handler.is_pure(item) for item in other.asks.before)
        )


_WIDE = 80


def _operand(text: str, node: ast.expr, joined: bool) -> str:
    """Return ``text``, an operand of ``and``, in parentheses if it needs them."""
    loose = isinstance(node, (ast.IfExp, ast.Lambda, ast.NamedExpr)) or (
        isinstance(node, ast.BoolOp) and (joined or "\n" in text)
    )
    return f"({text})" if loose or "\n" in text else text


def family_of(asks: ArchitectureTest) -> str:
    """Return a name for the family of models that a test is for; the empty string if the test has no name."""
    test = asks.test
    listed = test.comparators[0] if isinstance(test, ast.Compare) else None
    if isinstance(listed, ast.Name) and listed.id != asks.variable:
        return listed.id
    # Of several architectures, the one that the test names first.
    text = ast.unparse(test)
    return min({*asks.names, *asks.parts}, key=lambda name: (text.find(name), name), default="")


def asked_as_text(branch: Branch) -> tuple[list[str], str]:
    """Return the arguments of ``provides`` for a branch, as text, and a name for its family."""
    asks = branch.asks
    assert asks is not None
    test, family = asks.test, family_of(asks)
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq):
        texts = [item for item in (test.left, test.comparators[0]) if isinstance(item, ast.Constant)]
        return [branch.text(item) for item in texts], family
    if isinstance(test, ast.Compare) and isinstance(test.comparators[0], (ast.Tuple, ast.List, ast.Set)):
        return [branch.text(item) for item in test.comparators[0].elts], family
    text = branch.text(test)
    return [f"lambda {asks.variable}: " + (f"({text})" if "\n" in text else text)], family


def without(found: Sequence[Branch], taken: Collection[Branch]) -> list[cst.BaseStatement]:
    """Return what remains of a chain without the branches ``taken``; an ``else`` always remains."""
    gone = {id(item.node) for item in taken}
    left: cst.If | cst.Else | None = found[-1].node.orelse
    for branch in reversed(found):
        if id(branch.node) not in gone:
            left = branch.node.with_changes(orelse=left)
    if isinstance(left, cst.Else):
        # No condition is left before the ``else``: its block stands alone. (Only if lifting is forced.)
        return [item for item in left.body.body if isinstance(item, cst.BaseStatement)]
    return [left] if left is not None else []
