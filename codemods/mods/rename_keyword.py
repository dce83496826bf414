"""Renames a keyword of the fields' metadata, and the helper that reads it, wherever the tree has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import libcst as cst

from codemods.frame.codemod import Change, Codemod
from codemods.reading.facts import RecordFacts
from codemods.reading.source import SourceFile
from codemods.writing.emit import name_of
from codemods.writing.scoped import ScopedTransformer
from harness.common.errors import UsageError, hint

_BY_NAME = ("getattr", "hasattr", "setattr", "delattr", "attrgetter")


@dataclass
class RenameKeyword(Codemod):
    """Renames the keyword ``old`` to ``new`` and the function ``old_helper`` to ``new_helper``.

    The keyword is renamed in calls of the metadata's class and of ``replace``, as an attribute, in the class itself,
    and where it is an attribute's name as text. A call of anything else with that keyword is listed.
    """

    summary: ClassVar[str] = "a keyword of Arg and its helper function get other names, everywhere"

    facts: RecordFacts
    old: str = "model_overridable"
    new: str = "resolvable"
    old_helper: str = "model_overridable_fields"
    new_helper: str = "resolvable_fields"

    def __post_init__(self) -> None:
        """Raises UsageError when the metadata's class has neither the old keyword nor the new one, or has both."""
        arg, parameters = self.facts.arg, self.facts.arg_parameters
        if arg is None or (self.old not in parameters and self.new not in parameters):
            where = f"{arg.name} in {arg.file}" if arg else "the record"
            raise UsageError(f"{where} has no keyword {self.old!r}{hint(self.old, parameters)}")
        if self.old in parameters and self.new in parameters:
            raise UsageError(f"{arg.name} in {arg.file} has {self.new!r} already, beside {self.old!r}")

    def words(self) -> tuple[str, ...]:
        """Return both old names."""
        return (self.old, self.old_helper)

    def apply(self, module: cst.Module, source: SourceFile) -> Change:
        """Return the module with both names replaced."""
        walk = _Renamer(module, source, self)
        changed = module.visit(walk)
        return Change(changed if walk.count else module, walk.count, walk.left())


class _Renamer(ScopedTransformer):
    def __init__(self, module: cst.Module, source: SourceFile, codemod: RenameKeyword) -> None:
        super().__init__(module, source, codemod.facts, 0)
        self._mod = codemod
        self._arg = codemod.facts.arg
        self._path = source.path
        self._classes: list[str] = []

    def visit_ClassDef(self, node: cst.ClassDef) -> bool | None:
        self._classes.append(node.name.value)
        return None

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.BaseStatement:
        self._classes.pop()
        return updated_node

    def leave_AnnAssign(self, original_node: cst.AnnAssign, updated_node: cst.AnnAssign) -> cst.BaseSmallStatement:
        inside = self._arg is not None and self._classes[-1:] == [self._arg.name] and self._path == self._arg.file
        if inside and not list(self.functions) and name_of(updated_node.target) == self._mod.old:
            self.count += 1
            return updated_node.with_changes(target=cst.Name(self._mod.new))
        return updated_node

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        new = {self._mod.old: self._mod.new, self._mod.old_helper: self._mod.new_helper}.get(updated_node.attr.value)
        if new is None:
            return updated_node
        self.count += 1
        return updated_node.with_changes(attr=updated_node.attr.with_changes(value=new))

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        if updated_node.value != self._mod.old_helper:
            return updated_node
        self.count += 1
        return updated_node.with_changes(value=self._mod.new_helper)

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        called = name_of(updated_node.func)
        takes = called in ("replace", self._arg.name if self._arg else "")
        arguments = list(updated_node.args)
        for number, item in enumerate(arguments):
            if item.keyword is not None and item.keyword.value == self._mod.old:
                if not takes:
                    self.leave_alone(original_node, "it is a keyword of something else, as far as can be seen")
                    continue
                arguments[number] = item.with_changes(keyword=cst.Name(self._mod.new))
            elif called in _BY_NAME and isinstance(item.value, cst.SimpleString):
                if item.value.evaluated_value != self._mod.old:
                    continue
                text = item.value.value.replace(self._mod.old, self._mod.new)
                arguments[number] = item.with_changes(value=item.value.with_changes(value=text))
            else:
                continue
            self.count += 1
        return updated_node.with_changes(args=arguments)
