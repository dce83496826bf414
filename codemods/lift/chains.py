"""Takes the branches that ask a model's architecture out of a chain of conditions, where they exclude the others."""

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
    """One condition of a chain with its block, as it is now; ``asks`` is None where it asks no architecture."""

    node: cst.If
    tree: ast.If
    source: str
    asks: ArchitectureTest | None

    def text(self, node: ast.expr) -> str:
        """Return how ``node``, part of the branch's condition, is written."""
        return ast.get_source_segment(self.source, node) or ast.unparse(node)


class ProviderBranch(NamedTuple):
    """A branch that becomes a provider, the statements it is made of, and what they need."""

    branch: Branch
    body: tuple[cst.BaseStatement, ...]
    needs: Needs


def branches(node: cst.If, variables: Collection[str], handler: Handler) -> tuple[list[Branch], bool]:
    """Return the branches of a chain and whether an ``else`` ends it; ``variables`` hold the architecture."""
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
        """Return the branches that become providers. They exclude each other and all that stay, unless forced.

        The call of the providers comes before what stays of the chain. So an architecture for which a branch is taken
        must fail the tests of all others: "if arch == 'A': ... elif 'A' in arch: ..." runs one block for 'A', and
        would run two. An ``else`` would run for what the providers took.
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
        # One call runs all providers, for one variable: a chain that asks two is left as it is.
        variables = {item.branch.asks.variable for item in taken if item.branch.asks}
        return taken if len(variables) == 1 else []

    def _body(self, branch: Branch) -> tuple[cst.BaseStatement, ...] | None:
        """Return what a provider does for a branch: its block, under what else its condition asks."""
        asks = branch.asks
        if asks is None or not self._handler.is_ours(self._handler.declares(branch.tree.body)):
            return None
        if not isinstance(branch.node.body, cst.IndentedBlock) or m.findall(branch.node.test, m.Comment()):
            return None
        # A provider has no locals of the handler, and asks the architecture before what its condition asked first.
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
        """Return whether ``other`` may be true where ``branch`` is, or asking it besides may do something."""
        assert branch.asks is not None
        return (
            other.asks is None
            or branch.asks.variable != other.asks.variable
            or branch.asks.overlaps(other.asks)
            or not all(self._handler.is_pure(item) for item in other.asks.before)
        )


_WIDE = 80


def _operand(text: str, node: ast.expr, joined: bool) -> str:
    loose = isinstance(node, (ast.IfExp, ast.Lambda, ast.NamedExpr)) or (
        isinstance(node, ast.BoolOp) and (joined or "\n" in text)
    )
    return f"({text})" if loose or "\n" in text else text


def family_of(asks: ArchitectureTest) -> str:
    """Return a name for the family of models that a test asks for; the empty string where it names none."""
    test = asks.test
    listed = test.comparators[0] if isinstance(test, ast.Compare) else None
    if isinstance(listed, ast.Name) and listed.id != asks.variable:
        return listed.id
    text = ast.unparse(test)
    return min({*asks.names, *asks.parts}, key=lambda name: (text.find(name), name), default="")


def asked_as_text(branch: Branch) -> tuple[list[str], str]:
    """Return the arguments of ``provides`` for a branch, and a name for its family."""
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
    """Return what is left of a chain when the branches ``taken`` have gone; an ``else`` stays."""
    gone = {id(item.node) for item in taken}
    left: cst.If | cst.Else | None = found[-1].node.orelse
    for branch in reversed(found):
        if id(branch.node) not in gone:
            left = branch.node.with_changes(orelse=left)
    if isinstance(left, cst.Else):
        return [item for item in left.body.body if isinstance(item, cst.BaseStatement)]
    return [left] if left is not None else []
