"""Adds a test to the tree that compares the tagged fields with an explicit tuple, and updates that tuple."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import libcst as cst

from codemods.frame.codemod import Change, Codemod, DoesNotApply, StepFields
from codemods.reading.facts import RecordFacts
from codemods.reading.index import dotted_name
from codemods.reading.source import SourceFile
from codemods.writing.emit import name_of

PINNED = "PINNED"
_TEST = '''\
"""What the resolution may declare, pinned: a field that joins or leaves the whitelist is meant to."""

{imports}

PINNED = {names}


def test_the_whitelist_is_the_pinned_one():
    assert sorted(resolvable_fields({record})) == sorted(PINNED)
'''


@dataclass
class PinWhitelist(Codemod):
    """Writes the test module ``path``, or updates the tuple in it, so that it lists ``fields`` and no others.

    ``fields`` is the whole whitelist; if it is empty, the fields that the tree has tagged are.
    """

    summary: ClassVar[str] = "a test module pins the whitelist of resolvable fields"

    path: str
    fields: tuple[str, ...] = ()

    @classmethod
    def arguments(cls, facts: RecordFacts, step: StepFields, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the whole whitelist: the tagged fields, and those that this step and the steps before it tag."""
        if facts.arg is None:
            raise DoesNotApply("no field is tagged")
        return {"fields": tuple(sorted({*facts.tagged, *(name for name in step.moved if name in facts.fields)}))}

    def __post_init__(self) -> None:
        """Raises UsageError for a name that is no field."""
        for name in self.fields:
            self.facts.check_field(name)

    @property
    def _whitelist(self) -> list[str]:
        return sorted(set(self.fields) or self.facts.tagged)

    def words(self) -> tuple[str, ...]:
        """Return the name of the tuple."""
        return (PINNED,)

    def concerns(self, source: SourceFile) -> bool:
        """Return whether the file is the test module."""
        return source.path == self.path

    def apply(self, module: cst.Module, source: SourceFile) -> Change:
        """Return the module with the tuple up to date."""
        body = list(module.body)
        for number, statement in enumerate(body):
            small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
            if not isinstance(small, cst.Assign) or name_of(small.targets[0].target) != PINNED:
                continue
            if sorted(_strings(small.value)) == self._whitelist:
                break
            changed = small.with_changes(value=cst.parse_expression(_tuple(self._whitelist)))
            assert isinstance(statement, cst.SimpleStatementLine)
            body[number] = statement.with_changes(body=[changed, *statement.body[1:]])
            return Change(module.with_changes(body=body), 1)
        return Change(module)

    def files(self) -> Mapping[str, str]:
        """Return the test module, unless the tree has it already."""
        if self.path in self.facts.test_files:
            return {}
        record = self.facts.record
        modules = (dotted_name(record.file), record.name), (self.facts.runtime_module, "resolvable_fields")
        imports = "\n".join(sorted(f"from {module} import {name}" for module, name in modules))
        return {self.path: _TEST.format(imports=imports, names=_tuple(self._whitelist), record=record.name)}


def _tuple(names: Sequence[str]) -> str:
    return "(\n" + "".join(f'    "{name}",\n' for name in names) + ")" if names else "()"


def _strings(value: cst.BaseExpression) -> list[str]:
    elements = value.elements if isinstance(value, (cst.Tuple, cst.List, cst.Set)) else ()
    return [str(item.value.evaluated_value) for item in elements if isinstance(item.value, cst.SimpleString)]
