"""Renames a keyword of the fields' metadata, and the helper function that reads it, in the whole tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import libcst as cst

from codemods.frame.codemod import Change, Codemod
from codemods.reading.index import Definition
from codemods.reading.source import SourceFile
from codemods.writing.emit import name_of
from codemods.writing.record_walk import RecordWalk
from harness.common.errors import UsageError, hint

_BY_NAME = ("getattr", "hasattr", "setattr", "delattr", "attrgetter")


@dataclass
class RenameKeyword(Codemod):
    """Renames the keyword ``old`` to ``new`` and the function ``old_helper`` to ``new_helper``.

    The keyword is renamed in the metadata's class, in calls of this class and of ``replace``, as an attribute
    (``arg.old``), and as the name of one (``getattr(arg, "old")``). A call of anything else with that keyword stays
    and is listed.
    """

    summary: ClassVar[str] = "a keyword of Arg and its helper function get other names, everywhere"

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
        return _Renamer(module, source, self).change()


class _Renamer(RecordWalk):
    def __init__(self, module: cst.Module, source: SourceFile, codemod: RenameKeyword) -> None:
        super().__init__(module, source, codemod.facts)
        self._mod = codemod

    def leave_AnnAssign(self, original_node: cst.AnnAssign, updated_node: cst.AnnAssign) -> cst.BaseSmallStatement:
        inside = self.outermost is None and Definition(self.path, ".".join(self.classes[-1:])) == self.facts.arg
        if inside and name_of(updated_node.target) == self._mod.old:
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
        takes = called in ("replace", self.facts.arg.name if self.facts.arg else "")
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
