"""Turns each imperative write of a field into a declaration in its place, which sets the field and records it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import libcst as cst
import libcst.matchers as m

from codemods.frame.codemod import Change, FieldCodemod
from codemods.reading.scopes import like_record
from codemods.reading.source import SourceFile, usual_quote
from codemods.reading.writes import may_write
from codemods.runtime.names import DECLARE
from codemods.writing.emit import comma, declaration, laid_out, names_in
from codemods.writing.imports import Imports
from codemods.writing.loops import written_out
from codemods.writing.record_walk import RecordWalk
from codemods.writing.stores import CannotStore, Stores

_OTHER_OBJECT = "it is not known to be the record of the resolution"


@dataclass
class RecordWrites(FieldCodemod):
    """Rewrites the writes of ``fields`` through each name that holds the record.

    The value is evaluated and set as before, and is also recorded, so every reader sees the same value as before.
    """

    summary: ClassVar[str] = "each imperative write of a field becomes a declaration, recorded and applied at once"

    def concerns(self, source: SourceFile) -> bool:
        """Return whether one of the fields may be assigned, or set by ``setattr``, through what may be a record."""
        return source.path != self.facts.runtime_file and may_write(source, self.facts, frozenset(self.fields))

    def apply(self, module: cst.Module, source: SourceFile) -> Change:
        """Return the module with its writes declared; those that stay are listed with a reason."""
        return _Recorder(module, source, self).change()


class _Recorder(RecordWalk):
    def __init__(self, module: cst.Module, source: SourceFile, codemod: RecordWrites) -> None:
        super().__init__(module, source, codemod.facts)
        self._fields = frozenset(codemod.fields)
        self._imports = Imports(module, source, codemod.facts.runtime_module, DECLARE)
        self._declare = self._imports.of(DECLARE)
        self._quote = usual_quote(module.code)
        # In this order: the outermost function around; the names in use in it, with the temporary ones added so far;
        # whether it has a ``try`` or ``with``, and so may continue after setting a field failed.
        self._taken_in: cst.CSTNode | None = None
        self._taken: set[str] = set()
        self._goes_on = False
        # The loops around, innermost last: the loop's variable and the texts that it takes, if they are written out.
        # These are the fields that ``setattr(record, variable, value)`` may write.
        self._loops: list[tuple[str, frozenset[str]]] = []

    def finished(self, changed: cst.Module) -> cst.Module:
        """Import ``declare``."""
        return self._imports.added(changed)

    # -- which writes

    def _field_of(self, node: cst.BaseExpression) -> str | None:
        """Return the field if ``node`` is one of ours, read from or stored to a name of the record; else None."""
        if isinstance(node, cst.Attribute) and node.attr.value in self._fields and self.holds_record(node.value):
            return node.attr.value
        return None

    def _stores(self) -> Stores:
        if self._taken_in is not self.outermost and self.outermost is not None:
            self._taken_in, self._taken = self.outermost, names_in(self.outermost)
            self._goes_on = bool(m.findall(self.outermost, m.Try() | m.TryStar() | m.With()))
        return Stores(self._field_of, self.scope.source, self._taken, self._quote, self._declare, self._goes_on)

    def _foreign(self, node: cst.CSTNode, targets: Sequence[cst.BaseExpression]) -> None:
        """List writes of our fields through something that looks like a record but is not known to be one."""
        ours = m.Attribute(attr=m.Name(value=m.MatchIfTrue(self._fields.__contains__)))
        found = [item for target in targets for item in m.findall(target, ours) if isinstance(item, cst.Attribute)]
        fields = {
            item.attr.value for item in found if self._field_of(item) is None and self._may_be_record(item.value)
        }
        if fields:
            self.leave_alone(node, _OTHER_OBJECT, fields)

    def _may_be_record(self, owner: cst.BaseExpression) -> bool:
        if isinstance(owner, cst.Name) and owner.value in self.scope.of_class:
            return True
        names = names_in(owner)
        return bool(names & self.scope.records) or any(like_record(name, self.facts.names) for name in names)

    # -- small statements

    def _rewritten(
        self, original: cst.BaseSmallStatement, updated: cst.BaseSmallStatement
    ) -> list[cst.BaseSmallStatement] | None:
        """Return the statements that replace ``updated``, or None to keep it."""
        targets = _targets(updated)
        if not targets:
            return None
        fields = [name for target in targets for name in self._fields_in(target)]
        if not fields:
            self._foreign(original, targets)
            return None
        stores = self._stores()
        try:
            if isinstance(updated, cst.Assign):
                made = stores.assign(updated)
            elif isinstance(updated, cst.AnnAssign):
                made = stores.annotated(updated)
            elif isinstance(updated, cst.AugAssign):
                made = stores.augmented(updated)
            else:
                raise CannotStore("a deletion is no value that could be declared")
        except CannotStore as error:
            self.leave_alone(original, str(error), fields)
            return None
        self._foreign(original, targets)
        self.count += len(stores.made)
        return made

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        """Rewrite the writes of a line; if its only statement becomes several, each gets its own line."""
        pairs = list(zip(original_node.body, updated_node.body, strict=True))
        if len(pairs) > 1:
            body, changed = self._in_line(pairs)
            return updated_node.with_changes(body=body) if changed else updated_node
        made = self._rewritten(*pairs[0])
        if made is None:
            return updated_node
        lines: list[cst.SimpleStatementLine] = [
            cst.SimpleStatementLine([statement]) for statement in (self._laid_out(item) for item in made)
        ]
        lines[0] = updated_node.with_changes(body=lines[0].body)
        if not isinstance(updated_node.body[0].semicolon, cst.MaybeSentinel):
            lines[-1] = lines[-1].with_changes(
                body=[lines[-1].body[0].with_changes(semicolon=updated_node.body[0].semicolon)]
            )
        return cst.FlattenSentinel(lines) if len(lines) > 1 else lines[0]

    def leave_SimpleStatementSuite(
        self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
    ) -> cst.SimpleStatementSuite:
        """Rewrite writes after a colon, as in ``if c: self.x = 1``, on the same line."""
        body, changed = self._in_line(list(zip(original_node.body, updated_node.body, strict=True)))
        return updated_node.with_changes(body=body) if changed else updated_node

    def _in_line(
        self, pairs: Sequence[tuple[cst.BaseSmallStatement, cst.BaseSmallStatement]]
    ) -> tuple[list[cst.BaseSmallStatement], bool]:
        body: list[cst.BaseSmallStatement] = []
        changed = False
        for original, updated in pairs:
            made = self._rewritten(original, updated)
            if made is None:
                body.append(updated)
                continue
            changed = True
            joined = [_before_semicolon(item) for item in made]
            joined[-1] = made[-1].with_changes(semicolon=updated.semicolon)
            body += joined
        return body, changed

    def _laid_out(self, statement: cst.BaseSmallStatement) -> cst.BaseSmallStatement:
        if isinstance(statement, cst.Expr) and isinstance(statement.value, cst.Call):
            return statement.with_changes(value=laid_out(statement.value, self.width))
        return statement

    # -- targets of compound statements

    def visit_For(self, node: cst.For) -> bool | None:
        """Remember the loop's variable and the texts that it takes, if they are written out."""
        self._loops.append(written_out(node))
        return None

    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> cst.BaseStatement:
        """Let the loop assign a temporary name instead of a field; its body then begins with the declaration."""
        self._loops.pop()
        taken = self._received(original_node, updated_node.target, updated_node.body)
        return updated_node.with_changes(target=taken[0], body=taken[1]) if taken else updated_node

    def leave_With(self, original_node: cst.With, updated_node: cst.With) -> cst.BaseStatement:
        """Let ``as`` assign a temporary name instead of a field; the body then begins with the declaration."""
        *before, last = updated_node.items
        for item in before:
            if item.asname and (fields := self._fields_in(item.asname.name)):
                self.leave_alone(original_node, "a further context manager is entered after it is written", fields)
        if last.asname is None:
            return updated_node
        taken = self._received(original_node, last.asname.name, updated_node.body)
        if taken is None:
            return updated_node
        renamed = last.with_changes(asname=last.asname.with_changes(name=taken[0]))
        return updated_node.with_changes(items=[*before, renamed], body=taken[1])

    def leave_CompFor(self, original_node: cst.CompFor, updated_node: cst.CompFor) -> cst.CompFor:
        """List a field that a comprehension writes."""
        if fields := self._fields_in(original_node.target):
            self.leave_alone(original_node, "a comprehension has no statement to put a declaration in", fields)
        return updated_node

    def _fields_in(self, target: cst.BaseExpression) -> list[str]:
        return self._stores().fields_in(target) if self.scope.records else []

    def _received(
        self, node: cst.CSTNode, target: cst.BaseExpression, body: cst.BaseSuite
    ) -> tuple[cst.BaseAssignTargetExpression, cst.BaseSuite] | None:
        """Return a temporary target, and ``body`` with the declarations before it; None to keep both."""
        fields = self._fields_in(target)
        if not fields:
            self._foreign(node, [target])
            return None
        stores = self._stores()
        try:
            name, statements = stores.received(target)
        except CannotStore as error:
            self.leave_alone(node, str(error), fields)
            return None
        self.count += len(stores.made)
        if isinstance(body, cst.IndentedBlock):
            lines = [cst.SimpleStatementLine([item]) for item in statements]
            return name, body.with_changes(body=[*lines, *body.body])
        return name, body.with_changes(body=[*(_before_semicolon(item) for item in statements), *body.body])

    # -- setattr

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        """Turn ``setattr(record, name, value)`` into a declaration; both return None."""
        if _is_unusual_setattr(updated_node) and any(self.holds_record(item.value) for item in updated_node.args):
            self._list_unusual(original_node)
            return updated_node
        if not m.matches(updated_node.func, m.Name("setattr")) or len(updated_node.args) != 3:
            return updated_node
        owner, name, value = updated_node.args
        if any(item.star or item.keyword for item in updated_node.args) or not self.holds_record(owner.value):
            self._foreign_setattr(original_node, owner.value, name.value)
            return updated_node
        if isinstance(name.value, cst.SimpleString):
            field = name.value.evaluated_value
            if field not in self._fields or not isinstance(field, str):
                return updated_node
            self.count += 1
            return declaration(
                owner.value, self.scope.source, [(field, value.value)], quote=self._quote, declare=self._declare
            )
        known = self._known_names(name.value)
        if known is None:
            self.leave_alone(original_node, "the attribute's name is computed: it may be the field")
        elif known & self._fields:
            self.count += 1
            return self._declared_by_name(owner.value, name.value, value.value)
        return updated_node

    def _declared_by_name(
        self, owner: cst.BaseExpression, name: cst.BaseExpression, value: cst.BaseExpression
    ) -> cst.Call:
        call = declaration(owner, self.scope.source, [], quote=self._quote, declare=self._declare)
        bare = value.with_changes(lpar=value.lpar, rpar=value.rpar)
        pair = cst.Dict([cst.DictElement(name, bare)])
        head = [item.with_changes(comma=comma()) for item in call.args]
        return call.with_changes(args=[*head, cst.Arg(pair, star="**")])

    def _known_names(self, name: cst.BaseExpression) -> frozenset[str] | None:
        """Return the texts that ``name`` may be, if it is the variable of a loop that writes them out; else None."""
        if not isinstance(name, cst.Name):
            return None
        return next((known for variable, known in reversed(self._loops) if variable == name.value and known), None)

    def _foreign_setattr(self, node: cst.Call, owner: cst.BaseExpression, name: cst.BaseExpression) -> None:
        if not isinstance(name, cst.SimpleString) or name.evaluated_value not in self._fields:
            return
        if self._may_be_record(owner):
            self.leave_alone(node, _OTHER_OBJECT, {str(name.evaluated_value)})

    def _list_unusual(self, node: cst.Call) -> None:
        """List a call of ``__setattr__``, unless it writes out a name that is none of our fields."""
        strings = [item for item in m.findall(node, m.SimpleString()) if isinstance(item, cst.SimpleString)]
        named = {str(item.evaluated_value) for item in strings} & self._fields
        if named or not strings:
            self.leave_alone(node, "it goes around the record's own setattr", named)


def _targets(statement: cst.BaseSmallStatement) -> list[cst.BaseExpression]:
    if isinstance(statement, cst.Assign):
        return [item.target for item in statement.targets]
    if isinstance(statement, cst.AugAssign) or (isinstance(statement, cst.AnnAssign) and statement.value is not None):
        return [statement.target]
    if isinstance(statement, cst.Del):
        return [statement.target]
    return []


def _before_semicolon(statement: cst.BaseSmallStatement) -> cst.BaseSmallStatement:
    return statement.with_changes(semicolon=cst.Semicolon(whitespace_after=cst.SimpleWhitespace(" ")))


def _is_unusual_setattr(node: cst.Call) -> bool:
    return m.matches(node.func, m.Attribute(attr=m.Name("__setattr__")))
