"""Turns reads of a field outside the resolution into reads of its leaf, the flag that it becomes."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import libcst as cst
import libcst.matchers as m

from codemods.frame.codemod import Change, FieldCodemod
from codemods.reading.holders import Holders
from codemods.reading.index import Definition, ModuleIndex, dotted_name
from codemods.reading.scopes import like_record, record_scopes
from codemods.reading.source import SourceFile
from codemods.writing.emit import name_of, names_in
from codemods.writing.imports import Imports
from codemods.writing.record_walk import RecordWalk
from codemods.writing.stores import leaves
from harness.common.errors import UsageError

_BY_NAME = ("getattr", "hasattr")
_TARGETS = {
    cst.AssignTarget: "target",
    cst.AnnAssign: "target",
    cst.AugAssign: "target",
    cst.Del: "target",
    cst.For: "target",
    cst.AsName: "name",
}
"""The attribute that holds what a node of a type stores to."""
LEAVES: Mapping[str, str] = {
    "attention_backend": "attn.backend",
    "prefill_attention_backend": "attn.prefill_backend",
    "decode_attention_backend": "attn.decode_backend",
    "moe_runner_backend": "moe.runner_backend",
}
"""The leaf of each field whose leaf has another name than the field."""


@dataclass
class MigrateReaders(FieldCodemod):
    """Rewrites reads of ``fields`` through a record: a parameter, an attribute of ``self``, or what a getter returns.

    ``flags`` is the function that returns the resolved flags, as ``package.module:name``. ``leaves`` gives the leaf
    of each field whose leaf has another name than the field. ``written_outside`` says, for each field that something
    writes after the resolution, where that is: the leaf would be out of date, so reads of the field are listed, not
    changed.

    Methods of the record, and functions that the resolution hands the record to, are part of the resolution: reads in
    them stay. Other reads in their files are listed, because nothing shows that they run after the resolution.
    """

    summary: ClassVar[str] = "reads of a field outside the resolution become reads of its leaf"

    flags: str
    leaves: Mapping[str, str] = field(default_factory=lambda: LEAVES)
    written_outside: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises UsageError for a name that is no field, or when ``flags`` is no ``package.module:name``."""
        super().__post_init__()
        module, colon, function = self.flags.partition(":")
        if not colon or not function.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
            raise UsageError(f"the function {self.flags!r} is not of the form 'package.module:name'")

    def concerns(self, source: SourceFile) -> bool:
        """Return whether the file reads one of the fields through something that may be a record."""
        if dotted_name(source.path) == self.flags.partition(":")[0] or source.path == self.facts.runtime_file:
            return False
        known = {*self.facts.names, *(name for _, name in self.facts.getters)}
        if not any(name.encode() in source.data for name in (*known, self.facts.record.name)):
            return False
        fields, locals_read = set(self.fields), set()
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Attribute) and node.attr in fields:
                owner = node.value.func if isinstance(node.value, ast.Call) else node.value
                name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
                if name in known or like_record(name, self.facts.names):
                    return True
                if isinstance(owner, ast.Name) and name != "self":
                    locals_read.add(name)
            elif isinstance(node, ast.Call) and _names_read(node) & fields:
                return True
        return bool(locals_read) and not locals_read.isdisjoint(self._local_names(source))

    def _local_names(self, source: SourceFile) -> set[str]:
        module = ModuleIndex(source.path, source.tree)
        strict = replace(self.facts, names=())
        also = Holders(module, strict, self.facts.names).gives_record
        return {name for scope in record_scopes(module, strict, also).values() for name in scope.records}

    def apply(self, module: cst.Module, source: SourceFile) -> Change:
        """Return the module with its reads migrated; those that stay are listed with a reason."""
        return _Migrator(module, source, self).change()


def _names_read(node: ast.Call) -> set[object]:
    """Return the strings given to ``node``, if it is a call of ``getattr`` or ``hasattr``."""
    if isinstance(node.func, ast.Name) and node.func.id in _BY_NAME:
        return {item.value for item in node.args if isinstance(item, ast.Constant)}
    return set()


class _Migrator(RecordWalk):
    def __init__(self, module: cst.Module, source: SourceFile, codemod: MigrateReaders) -> None:
        # A parameter's name alone does not show that it holds the process's record, whose flags will be read.
        strict = replace(codemod.facts, names=())
        self._holders = Holders(ModuleIndex(source.path, source.tree), strict, codemod.facts.names)
        super().__init__(module, source, strict, also=self._holders.gives_record)
        self._mod = codemod
        dotted, _, function = codemod.flags.partition(":")
        self._imports = Imports(module, source, dotted, function)
        self._flags = self._imports.of(function)
        places = (*codemod.facts.classes, *codemod.facts.passed)
        self._beside_resolution = any(place.file == source.path for place in places)
        self._stored: set[cst.CSTNode] = set()

    def finished(self, changed: cst.Module) -> cst.Module:
        """Import the function that returns the flags."""
        return self._imports.added(changed)

    # -- where

    def _in_resolution(self) -> bool:
        if any(Definition(self.path, name) in self.facts.classes for name in self.classes):
            return True
        if not self.definitions:
            return False
        function = self.definitions[0].name.rpartition(".")[2]
        return Definition(self.path, ".".join([*self.classes[:1], function])) in self.facts.passed

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Remember what ``node`` stores to, because that is not read."""
        target = _TARGETS.get(type(node))
        if target is not None:
            self._stored.update(leaves(getattr(node, target)))
        return super().on_visit(node)

    # -- what

    def _is_record(self, owner: cst.BaseExpression) -> bool:
        if isinstance(owner, cst.Call) and not owner.args:
            return isinstance(owner.func, cst.Name) and owner.func.value in self._holders.getters
        if isinstance(owner, cst.Attribute) and m.matches(owner.value, m.Name("self")):
            return bool(self.classes) and (self.classes[-1], owner.attr.value) in self._holders.kept
        return self.holds_record(owner)

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        """Replace a read through the record; list one through something that only may be the record."""
        name = updated_node.attr.value
        if name not in self._mod.fields or original_node in self._stored or self._in_resolution():
            return updated_node
        if not self._is_record(updated_node.value):
            owners = names_in(updated_node.value)
            if any(like_record(owner, self._mod.facts.names) for owner in owners):
                self.leave_alone(original_node, "it is not known to be the process's record", {name})
            return updated_node
        if self._beside_resolution:
            reason = "its file holds part of the resolution: it may run before the flags are there"
            self.leave_alone(original_node, reason, {name})
            return updated_node
        where = self._mod.written_outside.get(name)
        if where:
            self.leave_alone(original_node, f"the field is written after the resolution: {where}", {name})
            return updated_node
        self.count += 1
        leaf = cst.parse_expression(f"{self._flags}().{self._mod.leaves.get(name, name)}")
        return leaf.with_changes(lpar=updated_node.lpar, rpar=updated_node.rpar)

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        """List a field that ``getattr`` or ``hasattr`` reads by its name."""
        if name_of(updated_node.func) in _BY_NAME and len(updated_node.args) >= 2:
            owner, name = updated_node.args[:2]
            text = name.value.evaluated_value if isinstance(name.value, cst.SimpleString) else None
            if text in self._mod.fields and self._is_record(owner.value) and not self._in_resolution():
                self.leave_alone(original_node, "it is read by its name, perhaps with a default", {str(text)})
        return updated_node
