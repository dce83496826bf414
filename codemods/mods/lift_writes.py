"""Lifts guarded declarations out of a handler into passes over a read-only view, called where they stood."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import libcst as cst

from codemods.codemod import Change, Codemod, Example
from codemods.emit import DECLARE, code, fresh, laid_out, name_of
from codemods.examples.lift_writes import EXAMPLES
from codemods.imports import imported_as, with_import
from codemods.index import ModuleIndex
from codemods.record import RecordFacts
from codemods.regions import CannotLift, Needs, Regions
from codemods.scoped import ScopedTransformer, names_in
from codemods.scopes import parameter_names, scopes_in_order
from codemods.source import Source, line_limit

RUN = "run_pass"
_UNGUARDED = "it declares without a condition: there is nothing to lift around it"
_Pair = tuple[cst.BaseStatement, cst.BaseStatement]


@dataclass
class LiftWrites(Codemod):
    """Makes each guarded region that declares one of ``fields``, and does nothing else to the record, a pass.

    The pass reads a view, in which its own declarations lie on top; they are applied when it ends. Locals that it
    needs are handed to it as they are. Regions that follow one another become one pass. What is not lifted is listed
    with the reason; `record_writes` comes first, for an assignment cannot be lifted.
    """

    summary: ClassVar[str] = "guarded declarations become passes over a read-only view, at the same place"
    examples: ClassVar[tuple[Example, ...]] = EXAMPLES

    facts: RecordFacts
    fields: tuple[str, ...]

    def __post_init__(self) -> None:
        """Raises UsageError for a name that is neither a field nor assigned in the record's methods."""
        for name in self.fields:
            self.facts.check_written(name)

    def words(self) -> tuple[str, ...]:
        """Return the name of the function that declares."""
        return (DECLARE, f"_{DECLARE}")

    def concerns(self, source: Source) -> bool:
        """Return whether the file declares through the runtime."""
        return source.path != self.facts.runtime_file and any(name.encode() in source.data for name in self.fields)

    def apply(self, module: cst.Module, source: Source) -> Change:
        """Return the module with its guarded declarations in passes; what stays is listed."""
        declare = imported_as(module, self.facts.runtime_module, DECLARE)
        if declare is None:
            return Change(module)
        walk = _Lifter(module, source, self, declare, line_limit(module.code))
        changed = module.visit(walk)
        if not walk.count:
            return Change(module, 0, walk.left())
        return Change(with_import(changed, self.facts.runtime_module, RUN), walk.count, walk.left())


class _Lifter(ScopedTransformer):
    def __init__(self, module: cst.Module, source: Source, codemod: LiftWrites, declare: str, limit: int) -> None:
        super().__init__(module, source, codemod.facts, limit)
        self._facts = codemod.facts
        self._fields = frozenset(codemod.fields)
        self._declare = declare
        self._index = ModuleIndex(source.path, source.tree)
        self._nodes = list(scopes_in_order(source.tree))
        self._numbers: list[int] = []
        self._taken = names_in(module)
        self._path = source.path
        self._classes: list[str] = []
        self._passes: list[cst.FunctionDef] = []

    # -- where

    def visit_ClassDef(self, node: cst.ClassDef) -> bool | None:
        self._classes.append(node.name.value)
        return None

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.BaseStatement:
        self._classes.pop()
        return updated_node

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool | None:
        self._enter(node)
        self._numbers.append(self._number)
        return None

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        """Lift what can be lifted out of a function of the resolution."""
        scope, outermost = self.scope, len(list(self.functions)) == 1
        number = self._numbers.pop()
        self._stack.pop()
        if not outermost or not scope.records or not isinstance(updated_node.body, cst.IndentedBlock):
            return updated_node
        if updated_node.asynchronous is not None:
            return updated_node
        node = self._nodes[number]
        regions = Regions(self._index, self._facts, node, scope.records, self._declare)
        work = _Function(self, updated_node.name.value, sorted(scope.records), regions)
        assert isinstance(original_node.body, cst.IndentedBlock)
        body = work.block(updated_node.body.body, original_node.body.body, parameter_names(node))
        return updated_node.with_changes(body=updated_node.body.with_changes(body=body))

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        """Put the passes at the end of the module, where every name they use is defined."""
        blank = [cst.EmptyLine(indent=False)] * 2
        made = [item.with_changes(leading_lines=blank) for item in self._passes]
        return updated_node.with_changes(body=[*updated_node.body, *made])

    # -- what

    def is_ours(self, declared: Sequence[str]) -> bool:
        """Return whether one of the fields is among those that are declared."""
        return not self._fields.isdisjoint(declared)

    def make(
        self, handler: str, needs: Needs, statements: Sequence[cst.BaseStatement], records: Sequence[str]
    ) -> str:
        """Add a pass of ``statements``; return its name."""
        stem = handler.strip("_").removeprefix("handle_")
        name = fresh(f"_{stem}_pass", self._taken)
        number = 2
        while name.startswith("new_"):
            name, number = fresh(f"_{stem}_pass_{number}", self._taken), number + 1
        self._taken.add(name)
        view = fresh("view", {*needs.arguments, *(found for item in statements for found in names_in(item))})
        moved = [item.visit(_ToView(frozenset(records), view, self._declare, self._limit - 4)) for item in statements]
        first = moved[0]
        assert isinstance(first, (cst.If, cst.SimpleStatementLine))
        moved[0] = first.with_changes(leading_lines=[line for line in first.leading_lines if line.comment])
        parameters = [cst.Param(cst.Name(item)) for item in (view, *needs.arguments)]
        self._passes.append(
            cst.FunctionDef(cst.Name(name), cst.Parameters(params=parameters), cst.IndentedBlock(moved))  # type: ignore[arg-type]
        )
        self.count += len(needs.declares)
        return name


class _Function:
    """Works through the blocks of one function, the outermost statements first."""

    def __init__(self, walk: _Lifter, handler: str, records: Sequence[str], regions: Regions) -> None:
        self._walk = walk
        self._handler = handler
        self._records = records
        self._regions = regions

    def block(
        self,
        body: Sequence[cst.BaseStatement],
        original: Sequence[cst.BaseStatement],
        certain: frozenset[str],
        around: str = _UNGUARDED,
    ) -> list[cst.BaseStatement]:
        """Return a block with its regions lifted.

        ``certain`` are the locals bound when it is entered; ``around`` is why what stands around it stays.
        """
        done: list[cst.BaseStatement] = []
        waiting: list[_Pair] = []
        known = certain
        for statement, before in zip(body, original, strict=True):
            tree = _tree(statement)
            if self._walk.is_ours(self._regions.declares([tree])):
                if waiting and self._refusal([*waiting, (statement, before)], known) is None:
                    waiting.append((statement, before))
                    continue
                done += self._flushed(waiting, known, around)
                waiting, known = [], certain
                refusal = self._refusal([(statement, before)], known)
                if refusal is None:
                    waiting = [(statement, before)]
                    continue
                done.append(self._inside(statement, before, certain, refusal))
            else:
                done += self._flushed(waiting, known, around)
                waiting = []
                done.append(statement)
            certain = known = certain | _binds(tree)
        return [*done, *self._flushed(waiting, known, around)]

    def _refusal(self, pairs: Sequence[_Pair], certain: frozenset[str]) -> str | None:
        """Return why statements cannot be lifted together, or None when they can."""
        try:
            self._regions.judge([_tree(statement) for statement, _ in pairs], certain)
        except CannotLift as error:
            return str(error)
        return None

    def _flushed(self, pairs: Sequence[_Pair], certain: frozenset[str], around: str) -> list[cst.BaseStatement]:
        """Return what takes the place of statements that can be lifted together."""
        statements = [statement for statement, _ in pairs]
        if not any(isinstance(item, cst.If) for item in statements):
            for _, original in pairs:
                self._walk.leave_alone(original, around)
            return statements
        needs = self._regions.judge([_tree(item) for item in statements], certain)
        name = self._walk.make(self._handler, needs, statements, self._records)
        arguments = ", ".join([self._record_of(statements), name, *needs.arguments])
        call = cst.parse_statement(f"{RUN}({arguments})")
        first = statements[0]
        assert isinstance(call, cst.SimpleStatementLine)
        assert isinstance(first, (cst.If, cst.SimpleStatementLine))
        return [call.with_changes(leading_lines=[line for line in first.leading_lines if not line.comment])]

    def _record_of(self, statements: Sequence[cst.BaseStatement]) -> str:
        names = {name for item in statements for name in names_in(item)}
        return next(name for name in self._records if name in names)

    def _inside(
        self, statement: cst.BaseStatement, original: cst.BaseStatement, certain: frozenset[str], reason: str
    ) -> cst.BaseStatement:
        """Lift from the blocks inside a statement that cannot be lifted as a whole, or list it with the reason."""
        parts = [part for part in ("body", "orelse", "handlers", "finalbody") if getattr(statement, part, None)]
        if isinstance(statement, cst.SimpleStatementLine) or not parts:
            self._walk.leave_alone(original, reason)
            return statement
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            self._walk.leave_alone(original, "it stands in a function inside the handler")
            return statement
        changed: dict[str, object] = {}
        for part in parts:
            inner, before = getattr(statement, part), getattr(original, part)
            if isinstance(inner, cst.IndentedBlock):
                changed[part] = inner.with_changes(body=self.block(inner.body, before.body, certain, reason))
            elif isinstance(inner, (cst.If, cst.Else, cst.Finally)):
                changed[part] = self._branch(inner, before, certain, reason)
            elif isinstance(inner, (list, tuple)):
                pairs = zip(inner, before, strict=True)
                changed[part] = [self._branch(one, was, certain, reason) for one, was in pairs]
        return statement.with_changes(**changed)

    def _branch(self, inner: cst.CSTNode, original: cst.CSTNode, certain: frozenset[str], reason: str) -> cst.CSTNode:
        body = getattr(inner, "body", None)
        orelse = getattr(inner, "orelse", None)
        changed: dict[str, object] = {}
        if isinstance(body, cst.IndentedBlock):
            changed["body"] = body.with_changes(body=self.block(body.body, original.body.body, certain, reason))  # type: ignore[attr-defined]
        if isinstance(orelse, (cst.If, cst.Else)):
            changed["orelse"] = self._branch(orelse, original.orelse, certain, reason)  # type: ignore[attr-defined]
        return inner.with_changes(**changed)


class _ToView(cst.CSTTransformer):
    """Lets a pass read the view where the handler read the record, and declare through it."""

    def __init__(self, records: frozenset[str], view: str, declare: str, limit: int) -> None:
        super().__init__()
        self._records = records
        self._view = view
        self._declare = declare
        self._limit = limit
        self._depth = 0

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> bool | None:
        self._depth += 1
        return None

    def leave_IndentedBlock(self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock) -> cst.BaseSuite:
        self._depth -= 1
        return updated_node

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return updated_node.with_changes(value=self._view) if updated_node.value in self._records else updated_node

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Expr(self, original_node: cst.Expr, updated_node: cst.Expr) -> cst.BaseSmallStatement:
        call = updated_node.value
        if not isinstance(call, cst.Call) or name_of(call.func) != self._declare:
            return updated_node
        func = cst.Attribute(cst.Name(self._view), cst.Name(DECLARE))
        plain = call.with_changes(func=func, args=call.args[2:], whitespace_before_args=cst.SimpleWhitespace(""))
        spaced = [
            item.with_changes(
                comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")),
                whitespace_after_arg=cst.SimpleWhitespace(""),
            )
            for item in plain.args
        ]
        spaced[-1] = spaced[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated_node.with_changes(
            value=laid_out(plain.with_changes(args=spaced), self._limit - 4 * self._depth)
        )


def _tree(statement: cst.BaseStatement) -> ast.stmt:
    return ast.parse(code(statement)).body[0]


def _binds(statement: ast.stmt) -> frozenset[str]:
    """Return the locals that a statement is certain to bind."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return frozenset((alias.asname or alias.name).partition(".")[0] for alias in statement.names)
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    return frozenset(
        node.id
        for target in targets
        for node in ast.walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
