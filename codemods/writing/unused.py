"""Removes the locals and imports of a function that it does not use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import libcst as cst


class Uses(cst.CSTVisitor):
    """Counts mentions of names. Attribute names after a dot and keywords of arguments do not count."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.shared: set[str] = set()

    def visit_Attribute(self, node: cst.Attribute) -> bool | None:
        node.value.visit(self)
        return False

    def visit_Arg(self, node: cst.Arg) -> bool | None:
        node.value.visit(self)
        return False

    def visit_Name(self, node: cst.Name) -> None:
        self.counts[node.value] += 1

    def visit_Global(self, node: cst.Global) -> None:
        self.shared.update(item.name.value for item in node.names)

    def visit_Nonlocal(self, node: cst.Nonlocal) -> None:
        self.shared.update(item.name.value for item in node.names)


def without_unused(
    function: cst.FunctionDef, is_pure: Callable[[cst.BaseExpression], bool]
) -> tuple[cst.FunctionDef, int]:
    """Return ``function`` without unused imports and unused assignments of pure values, and how many were removed.

    An import is removed although loading the module may have an effect that is not seen here. If the import is there
    for its effect, a comment on its line usually says so; therefore an import with a comment stays.
    """
    removed = 0
    # A removed assignment may have been the only use of another name: repeat until nothing is removed.
    while True:
        uses = Uses()
        function.body.visit(uses)
        # These can use any local without mentioning its name.
        if uses.counts.keys() & {"locals", "vars", "exec", "eval"}:
            return function, removed
        walk = _Dropper(uses, is_pure)
        changed = function.with_changes(body=function.body.visit(walk))
        if not walk.count:
            return function, removed
        function, removed = changed, removed + walk.count


class _Dropper(cst.CSTTransformer):
    def __init__(self, uses: Uses, is_pure: Callable[[cst.BaseExpression], bool]) -> None:
        super().__init__()
        self._uses = uses
        self._is_pure = is_pure
        self.count = 0

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool | None:
        return False

    def visit_ClassDef(self, node: cst.ClassDef) -> bool | None:
        return False

    def _unused(self, name: str) -> bool:
        # The one mention is where the name is bound.
        return self._uses.counts[name] == 1 and name not in self._uses.shared

    def leave_IndentedBlock(self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock) -> cst.BaseSuite:
        body: list[cst.BaseStatement] = []
        blank: list[cst.EmptyLine] = []
        for statement in updated_node.body:
            if isinstance(statement, cst.SimpleStatementLine):
                kept = self._kept(statement)
                if kept is None:
                    # A blank line before a removed statement is kept before the next one.
                    blank = blank or [line for line in statement.leading_lines if line.comment is None]
                    continue
                statement = kept
            lines = getattr(statement, "leading_lines", ())
            if body and blank and not any(line.comment is None for line in lines):
                statement = statement.with_changes(leading_lines=[*blank, *lines])
            blank = []
            body.append(statement)
        return updated_node.with_changes(body=body)

    def _kept(self, updated_node: cst.SimpleStatementLine) -> cst.SimpleStatementLine | None:
        """Return the line without what is not used, or None if nothing of it remains."""
        if len(updated_node.body) != 1:
            return updated_node
        small = updated_node.body[0]
        if isinstance(small, cst.Assign) and len(small.targets) == 1:
            target = small.targets[0].target
            if isinstance(target, cst.Name) and self._unused(target.value) and self._is_pure(small.value):
                self.count += 1
                return None
        if isinstance(small, cst.ImportFrom) and not isinstance(small.names, cst.ImportStar):
            return self._without_names(updated_node, small)
        return updated_node

    def _without_names(self, line: cst.SimpleStatementLine, small: cst.ImportFrom) -> cst.SimpleStatementLine | None:
        assert isinstance(small.names, (list, tuple))
        if line.trailing_whitespace.comment is not None:
            return line
        kept = [item for item in small.names if not self._unused(item.evaluated_alias or item.evaluated_name)]
        if len(kept) == len(small.names):
            return line
        self.count += 1
        if not kept:
            return None
        if small.lpar is None:
            kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        else:
            kept[-1] = kept[-1].with_changes(comma=small.names[-1].comma)
        return line.with_changes(body=[small.with_changes(names=kept)])
