"""Removes what lifting leaves behind: empty handlers, dead branches, locals and imports that nothing uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import libcst as cst
import libcst.matchers as m

from codemods.frame.codemod import Change, Codemod, DoesNotApply, StepFields
from codemods.reading.facts import RecordFacts
from codemods.reading.index import Definition
from codemods.reading.source import SourceFile
from codemods.writing.emit import code, name_of
from codemods.writing.pure import is_pure
from codemods.writing.record_walk import RecordWalk
from codemods.writing.unused import without_unused


@dataclass
class RetireHandler(Codemod):
    """Cleans up the functions of the resolution whose name is one of ``functions``, and nothing else.

    In these functions it removes branches that do nothing, if evaluating the condition does nothing either, and
    locals and imports that are not used. It removes a handler that is empty already, with its calls, if only bare
    calls and a tuple of slots mention it. Apply it until nothing changes: a handler that one application empties is
    removed by the next.
    """

    summary: ClassVar[str] = "empty handlers, dead branches, unused locals and imports of what was touched go"

    functions: tuple[str, ...]

    @classmethod
    def arguments(cls, facts: RecordFacts, step: StepFields, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the functions that write the fields that move."""
        if not options.get("functions", step.functions):
            raise DoesNotApply
        return {"functions": step.functions}

    def words(self) -> tuple[str, ...]:
        """Return the functions' names."""
        return self.functions

    def apply(self, module: cst.Module, source: SourceFile) -> Change:
        """Return the module without what does nothing; what cannot be removed is listed with a reason."""
        return _Cleaner(module, source, self).change()


class _Cleaner(RecordWalk):
    def __init__(self, module: cst.Module, source: SourceFile, codemod: RetireHandler) -> None:
        super().__init__(module, source, codemod.facts)
        self._functions = frozenset(codemod.functions)
        # An empty text is no reason to keep the handler.
        self._gone = {name for name in codemod.functions if codemod.facts.empty.get(name) == ""}

    def _cleaned(self) -> bool:
        """Return whether the walk is in one of the functions to clean."""
        if not self.definitions:
            return False
        name = self.definitions[0].name.rpartition(".")[2]
        if self.classes:
            ours = Definition(self.path, self.classes[-1]) in self.facts.classes
        else:
            ours = Definition(self.path, name) in self.facts.passed
        return ours and name in self._functions

    def _is_pure(self, node: cst.BaseExpression) -> bool:
        return is_pure(node, self.scope.records, self.facts.fields.keys())

    def function_done(
        self, original: cst.FunctionDef, updated: cst.FunctionDef
    ) -> cst.FunctionDef | cst.RemovalSentinel:
        """Remove what a cleaned function does not use, or the whole function if it is an empty handler."""
        name = original.name.value
        if not (self.is_outermost and self._cleaned()):
            return updated
        if name in self._gone and self.classes:
            self.count += 1
            return cst.RemoveFromParent()
        if is_empty(original.body) and self.facts.empty.get(name):
            self.leave_alone(original.name, self.facts.empty[name])
        done, removed = without_unused(updated, self._is_pure)
        self.count += removed
        return done

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> cst.BaseStatement | cst.RemovalSentinel:
        """Remove branches that do nothing."""
        if not self._cleaned():
            return updated_node
        orelse = updated_node.orelse
        if isinstance(orelse, cst.Else) and is_empty(orelse.body):
            self.count += 1
            updated_node = updated_node.with_changes(orelse=None)
        # An empty branch with an ``elif`` after it stays: its condition keeps the ``elif`` from being tested.
        if not is_empty(updated_node.body) or isinstance(updated_node.orelse, cst.If):
            return updated_node
        if isinstance(updated_node.orelse, cst.Else):
            self.count += 1
            turned = cst.parse_expression(f"not ({code(updated_node.test)})")
            if m.matches(updated_node.test, m.Name() | m.Attribute() | m.Call()):
                turned = cst.UnaryOperation(cst.Not(), updated_node.test)
            return updated_node.with_changes(test=turned, body=updated_node.orelse.body, orelse=None)
        if not self._is_pure(updated_node.test):
            self.leave_alone(original_node.test, "nothing depends on it, but evaluating it may do something, or fail")
            return updated_node
        self.count += 1
        return cst.RemoveFromParent()

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.RemovalSentinel:
        """Remove the bare call of a handler that is removed."""
        if len(updated_node.body) == 1 and isinstance(updated_node.body[0], cst.Expr):
            call = updated_node.body[0].value
            func = call.func if isinstance(call, cst.Call) else None
            is_gone = isinstance(func, cst.Attribute) and func.attr.value in self._gone
            if is_gone and isinstance(func, cst.Attribute) and self.holds_record(func.value):
                self.count += 1
                return cst.RemoveFromParent()
        return updated_node

    def leave_Tuple(self, original_node: cst.Tuple, updated_node: cst.Tuple) -> cst.BaseExpression:
        """Take the handlers that are removed out of a tuple of slots, if it stands outside of functions."""
        kept = [element for element in updated_node.elements if not self._names_gone(element)]
        if len(kept) == len(updated_node.elements) or self.outermost is not None:
            return updated_node
        self.count += 1
        return updated_node.with_changes(elements=kept)

    def _names_gone(self, element: cst.BaseElement) -> bool:
        found = m.findall(element, m.Attribute(attr=m.Name(value=m.MatchIfTrue(self._gone.__contains__))))
        return any(
            isinstance(item, cst.Attribute) and name_of(item.value) == self.facts.record.name for item in found
        )


def is_empty(body: cst.BaseSuite) -> bool:
    """Return whether a suite does nothing: ``pass``, ``...`` and a docstring at most."""
    for statement in body.body:
        smalls = statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
        for small in smalls:
            is_text = isinstance(small, cst.Expr) and isinstance(small.value, (cst.SimpleString, cst.Ellipsis))
            if not (isinstance(small, cst.Pass) or is_text):
                return False
    return True
