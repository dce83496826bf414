"""Works through the statements of one function from the outside in, and replaces what it lifts by calls."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from codemods.lift.chains import Chains, ProviderBranch, asked_as_text, branches, family_of, without
from codemods.lift.handler import Handler
from codemods.lift.live import Later, certainly_bound
from codemods.lift.passes import PassMaker
from codemods.lift.regions import CannotLift, Regions
from codemods.reading.architecture import read_test
from codemods.writing.emit import code

_UNGUARDED = "it declares without a condition: there is nothing to lift around it"


@dataclass(frozen=True)
class BlockContext:
    """What is known about a block of statements.

    ``certain`` are the locals that are certainly bound where the block begins. ``around`` is the reason why the
    statement around the block stays in place. ``later`` is what may run after the block. ``depth`` is how many steps
    the block is indented from the ``def``. ``family`` is the family of models for which the block runs, or empty.
    """

    certain: frozenset[str]
    around: str
    later: Later
    depth: int = 1
    family: str = ""


class BlockLifter:
    """Lifts regions out of the blocks of ``handler``: statements that can become a pass together.

    ``leave`` is called with each statement that stays, the reason, and the fields that the statement declares.
    ``width`` is how many columns a line may take, counted from the ``def``. ``count`` is how many declarations were
    lifted so far.
    """

    def __init__(
        self,
        handler: Handler,
        maker: PassMaker,
        leave: Callable[[cst.CSTNode, str, Sequence[str]], None],
        width: int,
    ) -> None:
        self._handler = handler
        self._regions = Regions(handler)
        self._chains = Chains(handler, self._regions)
        self._maker = maker
        self._leave_alone = leave
        self._width = width
        self.count = 0

    def lifted(self, body: Sequence[cst.BaseStatement], parameters: frozenset[str]) -> list[cst.BaseStatement]:
        """Return the function's statements with its regions lifted."""
        return self._block(body, BlockContext(parameters - self._regions.unbinds, _UNGUARDED, Later()))

    def _leave(self, statement: cst.BaseStatement, reason: str) -> None:
        self._leave_alone(statement, reason, self._handler.declares([_tree(statement)]))

    def _block(self, body: Sequence[cst.BaseStatement], context: BlockContext) -> list[cst.BaseStatement]:
        """Return the statements of a block with its regions lifted.

        ``waiting`` collects neighbouring regions, because one pass for all of them reads better than one for each.
        ``known`` are the locals bound before the first of them, since that is where the pass will be called.
        """
        done: list[cst.BaseStatement] = []
        waiting: list[cst.BaseStatement] = []
        certain = known = context.certain
        trees = [_tree(statement) for statement in body]
        for number, statement in enumerate(body):
            later = context.later.behind(trees[number + 1 :])
            if self._handler.is_ours(self._handler.declares([trees[number]])):
                provided = self._provided(statement, certain, later, context.depth)
                if provided is None and waiting and not self._refusal([*waiting, statement], known, later):
                    waiting.append(statement)
                    continue
                done += self._flushed(waiting, known, context, trees[number:])
                waiting, known = [], certain
                if provided is not None:
                    call, left = provided
                    done += [call, *self._block(left, replace(context, certain=certain, later=later))]
                elif refusal := self._refusal([statement], known, later):
                    done.append(
                        self._inside(statement, replace(context, certain=certain, around=refusal, later=later))
                    )
                else:
                    waiting = [statement]
                    continue
            else:
                done += self._flushed(waiting, known, context, trees[number:])
                waiting = []
                done.append(statement)
            certain = known = certain | (certainly_bound(trees[number]) - self._regions.unbinds)
        return [*done, *self._flushed(waiting, known, context, [])]

    def _refusal(self, statements: Sequence[cst.BaseStatement], certain: frozenset[str], later: Later) -> str:
        """Return why ``statements`` cannot be lifted together; the empty string if they can."""
        try:
            self._regions.judge([_tree(statement) for statement in statements], certain, later)
        except CannotLift as error:
            return str(error)
        return ""

    # -- passes

    def _flushed(
        self,
        statements: Sequence[cst.BaseStatement],
        certain: frozenset[str],
        context: BlockContext,
        rest: Sequence[ast.stmt],
    ) -> Sequence[cst.BaseStatement]:
        """Return what replaces ``statements``, which can be lifted together; ``rest`` follows them in the block."""
        # Without a condition or a loop, a pass would only be a longer way to write the same declarations.
        if not any(isinstance(item, (cst.If, cst.For, cst.While)) for item in statements):
            for statement in statements:
                self._leave(statement, context.around)
            return statements
        needs = self._regions.judge([_tree(item) for item in statements], certain, context.later.behind(rest))
        self.count += len(needs.declares)
        family = self._family_of(statements[0], context) if len(statements) == 1 else context.family
        name = self._maker.a_pass(self._handler.name, family, needs, statements, self._handler.records)
        call = self._maker.run(self._handler.record_in(statements), name, needs.arguments, self._room(context.depth))
        return [call.with_changes(leading_lines=_blank_lines(statements[0]))]

    def _family_of(self, statement: cst.CSTNode, context: BlockContext) -> str:
        """Return the family of models that an ``if`` tests for, or else that of the block around it."""
        if not isinstance(statement, cst.If):
            return context.family
        test = ast.parse(f"({code(statement.test)})", mode="eval").body
        asks = read_test(test, self._handler.architectures & context.certain, self._handler.constant)
        return (family_of(asks) if asks else "") or context.family

    def _room(self, depth: int) -> int:
        return self._width - 4 * depth

    # -- providers

    def _provided(
        self, statement: cst.BaseStatement, certain: frozenset[str], later: Later, depth: int
    ) -> tuple[cst.BaseStatement, list[cst.BaseStatement]] | None:
        """Return the call that runs the providers of an ``if`` chain, and what remains of the chain.

        None if no branch of the chain can become a provider.
        """
        variables = self._handler.architectures & certain
        if not isinstance(statement, cst.If) or not variables:
            return None
        found, ends_in_else = branches(statement, variables, self._handler)
        taken = self._chains.take(found, ends_in_else, certain, later)
        if not taken:
            return None
        arguments = sorted({name for item in taken for name in item.needs.arguments})
        names = [self._provider(item, arguments) for item in taken]
        asks = taken[0].branch.asks
        assert asks is not None
        record = self._handler.record_in([part for item in taken for part in item.body])
        call = self._maker.run_providers(record, asks.variable, names, arguments, self._room(depth))
        left = without(found, [item.branch for item in taken])
        return call.with_changes(leading_lines=_blank_lines(statement)), left

    def _provider(self, item: ProviderBranch, arguments: Sequence[str]) -> str:
        self.count += len(item.needs.declares)
        asked, family = asked_as_text(item.branch)
        return self._maker.a_provider(family, asked, arguments, item.body, self._handler.records)

    # -- blocks inside

    def _inside(self, statement: cst.BaseStatement, context: BlockContext) -> cst.BaseStatement:
        """Lift out of the blocks inside a statement that stays; if it has none, list it.

        ``context.around`` is the reason why it stays.
        """
        parts = [
            part for part in ("body", "orelse", "handlers", "finalbody", "cases") if getattr(statement, part, None)
        ]
        if isinstance(statement, cst.SimpleStatementLine) or not parts:
            self._leave(statement, context.around)
            return statement
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            self._leave(statement, "it stands in a function inside the handler")
            return statement
        context = replace(context, later=context.later.inside(_tree(statement)))
        changed: dict[str, object] = {}
        for part in parts:
            inner = getattr(statement, part)
            if isinstance(inner, cst.IndentedBlock):
                changed[part] = self._indented(inner, replace(context, family=self._family_of(statement, context)))
            elif isinstance(inner, (cst.If, cst.Else, cst.Finally)):
                changed[part] = self._branch(inner, context)
            elif isinstance(inner, (list, tuple)):
                changed[part] = [self._branch(one, context) for one in inner]
        return statement.with_changes(**changed)

    def _branch(self, inner: cst.CSTNode, context: BlockContext) -> cst.CSTNode:
        """Lift out of an ``elif``, ``else``, ``except``, ``finally`` or ``case``."""
        body, orelse = getattr(inner, "body", None), getattr(inner, "orelse", None)
        changed: dict[str, object] = {}
        if isinstance(body, cst.IndentedBlock):
            changed["body"] = self._indented(body, replace(context, family=self._family_of(inner, context)))
        if isinstance(orelse, (cst.If, cst.Else)):
            changed["orelse"] = self._branch(orelse, context)
        return inner.with_changes(**changed)

    def _indented(self, block: cst.IndentedBlock, context: BlockContext) -> cst.IndentedBlock:
        within = replace(context, depth=context.depth + 1)
        return block.with_changes(body=self._block(block.body, within))


def _blank_lines(statement: cst.BaseStatement) -> list[cst.EmptyLine]:
    # The comments before the statement move into the pass or the provider.
    return [line for line in getattr(statement, "leading_lines", ()) if not line.comment]


def _tree(statement: cst.BaseStatement) -> ast.stmt:
    return ast.parse(code(statement)).body[0]
