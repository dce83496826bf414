"""Tags fields as resolvable: the resolution may declare the fields that have this tag."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import libcst as cst

from codemods.frame.codemod import Change, Codemod, DoesNotApply, Left, StepFields
from codemods.reading.facts import RecordFacts
from codemods.reading.index import dotted_name
from codemods.reading.source import SourceFile, line_limit
from codemods.writing.annotations import Tagger
from codemods.writing.imports import with_import
from harness.common.errors import UsageError

TAG = "resolvable"


@dataclass
class TagField(Codemod):
    """Adds ``resolvable=True`` to the metadata of ``fields``, and the keyword to the metadata's class.

    ``new`` maps each attribute that is to become a field to its annotation and its default, as text. The new fields
    come last in the record. They have no flag and are no arguments of the constructor.
    """

    summary: ClassVar[str] = "resolvable=True on the Arg of a field"

    fields: tuple[str, ...]
    new: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def arguments(cls, facts: RecordFacts, step: StepFields, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the moving names that are fields: an attribute that is only assigned cannot be tagged."""
        fields = tuple(name for name in step.moving if name in facts.fields)
        if facts.arg is None or not fields:
            what = "no field has metadata" if facts.arg is None else "an attribute is no field"
            raise DoesNotApply(f"{what} that could be tagged")
        return {"fields": fields}

    def __post_init__(self) -> None:
        """Raises UsageError for a name that is no field, and for a tree whose fields have no metadata class."""
        for name in self.fields:
            if name not in self.new:
                self.facts.check_field(name)
        if self.facts.arg is None:
            record = self.facts.record
            raise UsageError(f"no field of {record.name} in {record.file} has metadata that could be tagged")

    def words(self) -> tuple[str, ...]:
        """Return the fields' names and that of their metadata's class."""
        assert self.facts.arg is not None
        return (*self.fields, self.facts.arg.name)

    def concerns(self, source: SourceFile) -> bool:
        """Return whether the file defines one of the fields, or the metadata's class."""
        return source.path in {
            *(place.file for name, place in self.facts.fields.items() if name in self.fields),
            *([self.facts.record.file] if self.new else []),
            *([self.facts.arg.file] if self.facts.arg else []),
        }

    def apply(self, module: cst.Module, source: SourceFile) -> Change:
        """Return the module with its fields tagged; a field that is tagged already stays as it is."""
        walk = _Walk(self, source, line_limit(module.code), module.default_indent)
        changed = module.visit(walk)
        assert self.facts.arg is not None
        if walk.tagger.needs_imports:
            changed = with_import(changed, "typing", "Annotated")
            if self.facts.arg.file != source.path:
                changed = with_import(changed, dotted_name(self.facts.arg.file), self.facts.arg.name)
        left = tuple(Left(source.path, 0, name, reason, frozenset([name])) for name, reason in walk.tagger.left)
        return Change(changed if walk.count else module, walk.count, left)


class _Walk(cst.CSTTransformer):
    def __init__(self, codemod: TagField, source: SourceFile, limit: int, indent: str) -> None:
        super().__init__()
        assert codemod.facts.arg is not None
        self._codemod = codemod
        self._facts = codemod.facts
        self._path = source.path
        self.tagger = Tagger(source, codemod.facts.arg.name, codemod.facts.arg_parameters, TAG, limit - len(indent))
        self.count = 0

    # Nothing inside a function is a field, and skipping functions saves most of the walk.
    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool | None:
        return False

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.BaseStatement:
        name = original_node.name.value
        if not isinstance(updated_node.body, cst.IndentedBlock):
            return updated_node
        body: list[cst.BaseStatement] = list(updated_node.body.body)
        before = self.count
        for number, statement in enumerate(body):
            tagged = self._tagged(name, statement)
            if tagged is not statement:
                body[number] = tagged
                self.count += 1
        if self._facts.arg is not None and (self._path, name) == self._facts.arg:
            self._add_keyword(body)
        if (self._path, name) == self._facts.record:
            self._add_fields(body)
        if self.count == before:
            return updated_node
        return updated_node.with_changes(body=updated_node.body.with_changes(body=body))

    def _tagged(self, owner: str, statement: cst.BaseStatement) -> cst.BaseStatement:
        annotated = _annotated(statement)
        if annotated is None or not isinstance(annotated.target, cst.Name):
            return statement
        name = annotated.target.value
        place = self._facts.fields.get(name)
        if name not in self._codemod.fields or place is None or (self._path, owner) != place:
            return statement
        assert isinstance(statement, cst.SimpleStatementLine)
        tagged = self.tagger.tagged(annotated)
        return statement if tagged is annotated else statement.with_changes(body=[tagged, *statement.body[1:]])

    def _add_keyword(self, body: list[cst.BaseStatement]) -> None:
        """Give the metadata's class the keyword, as its last field."""
        if TAG in self._facts.arg_parameters:
            return
        places = [number for number, statement in enumerate(body) if _annotated(statement) is not None]
        if not places:
            self.tagger.left.append((self._facts.arg.name if self._facts.arg else "", "it is no class of fields"))
            return
        body.insert(places[-1] + 1, cst.parse_statement(f"{TAG}: bool = False"))
        self.count += 1

    def _add_fields(self, body: list[cst.BaseStatement]) -> None:
        """Add the new fields after the last one, in the order given."""
        places = [number for number, statement in enumerate(body) if _annotated(statement) is not None]
        made = [
            cst.parse_statement(self.tagger.new_field(name, *how))
            for name, how in self._codemod.new.items()
            if name not in self._facts.fields
        ]
        place = places[-1] + 1 if places else 0
        body[place:place] = made
        self.count += len(made)


def _annotated(statement: cst.CSTNode) -> cst.AnnAssign | None:
    body: Sequence[cst.CSTNode] = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
    return body[0] if body and isinstance(body[0], cst.AnnAssign) else None
