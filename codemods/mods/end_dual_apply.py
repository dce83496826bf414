"""Makes a resolution read a field from a view and set it only once, when it ends: the end of dual-apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import libcst as cst
import libcst.matchers as m

from codemods.frame.codemod import Change, FieldCodemod, Left
from codemods.reading.facts import Hidden
from codemods.reading.index import Definition
from codemods.reading.source import SourceFile, usual_quote
from codemods.runtime.names import APPLIED_NOW, APPLIES_AT_END, VIEW_OF
from codemods.writing.emit import code, laid_out, name_of
from codemods.writing.imports import Imports
from codemods.writing.loops import written_out
from codemods.writing.record_walk import RecordWalk

_MANY = 3
_READS_BY_NAME = ("getattr", "hasattr")


@dataclass
class EndDualApply(FieldCodemod):
    """Sets each of ``fields`` only when the resolution ends, if all code that may read or write it before is known.

    The function that resolves the record is decorated with ``applies_at_end``, and all code that it reaches reads the
    field from ``view_of(record)``. If some code may read or write a field unseen, the field stays as it is, and the
    places in the way are listed. `record_writes` must run before, because an assignment of the field is in the way.

    ``apply_before`` names functions that get the record but cannot be followed, such as plugins, as they are written
    where they are called; it may also be one text with commas. Before each such call the waiting values are applied,
    so that the function sees the same as without the codemod. If you name one, you vouch that it does not keep the
    record to read it later in the resolution.
    """

    summary: ClassVar[str] = "a field's readers during the resolution read a view, and it is set once, at the end"
    reads_anew: ClassVar[bool] = True

    apply_before: tuple[str, ...] | str = ()

    def __post_init__(self) -> None:
        """Raises UsageError for a name that is neither a field nor assigned in the record's methods."""
        super().__post_init__()
        named = self.apply_before.split(",") if isinstance(self.apply_before, str) else self.apply_before
        self.apply_before = tuple(name.strip() for name in named if name.strip())
        resolution = self.facts.resolution
        # For each place, the fields that it keeps from moving; for fields that stay for another reason, that reason.
        self._in_the_way: dict[Hidden, list[str]] = {}
        self._odd: dict[str, str] = {}
        for name in self.fields:
            if resolution.entry is None:
                self._odd[name] = "nothing shows where the resolution begins and ends"
            elif name in self.facts.effects:
                self._odd[name] = "the record has a method of that name"
            for item in resolution.in_the_way(name, self.apply_before):
                self._in_the_way.setdefault(item, []).append(name)
        stay = {*self._odd, *(name for names in self._in_the_way.values() for name in names)}
        self._going = tuple(name for name in self.fields if name not in stay)

    @property
    def going(self) -> tuple[str, ...]:
        """The fields that can move, in the order given."""
        return self._going

    def words(self) -> tuple[str, ...]:
        """Return the names of the fields, of the function that resolves the record, and of the functions named."""
        entry = self.facts.resolution.entry or Definition("", self.facts.record.name)
        callees = (name.rpartition(".")[2] for name in self.apply_before)
        return (*self.fields, entry.name.rpartition(".")[2], *callees)

    def concerns(self, source: SourceFile) -> bool:
        """Return whether the file holds part of the resolution."""
        files = {place.file for place in self.facts.resolution.reached}
        return source.path in (files or {self.facts.record.file}) and source.path != self.facts.runtime_file

    def apply(self, module: cst.Module, source: SourceFile) -> Change:
        """Return the module with its reads from the view; what is in the way is listed with the entry's file."""
        left = self._left() if source.path == self._home() else ()
        if not self._going:
            return Change(module, 0, left)
        change = _Reader(module, source, self).change()
        return replace(change, left=left)

    def _home(self) -> str:
        entry = self.facts.resolution.entry
        return entry.file if entry else self.facts.record.file

    def _left(self) -> tuple[Left, ...]:
        """Return what is in the way, each with the fields that it keeps where they are."""
        home = self.facts.resolution.entry or self.facts.record
        odd = [Left(home.file, 0, name, why, frozenset([name])) for name, why in self._odd.items()]
        found = [
            Left(item.file, item.line, item.what, f"{self._listed(names)}: {item.reason}", frozenset(names))
            for item, names in self._in_the_way.items()
        ]
        return tuple(sorted([*odd, *found], key=lambda item: item[:4]))

    def _listed(self, names: Sequence[str]) -> str:
        every = len(names) == len(self.fields) > _MANY
        return f"all {len(names)} fields" if every else ", ".join(names)


class _Reader(RecordWalk):
    def __init__(self, module: cst.Module, source: SourceFile, codemod: EndDualApply) -> None:
        facts = codemod.facts
        # Following the resolution has found more parameters that hold the record.
        passed = dict(facts.passed)
        for place, parameters in facts.resolution.reached.items():
            passed[place] = passed.get(place, frozenset()) | parameters
        super().__init__(module, source, replace(facts, passed=passed))
        self._resolution = facts.resolution
        self._fields = frozenset(codemod.going)
        self._order = codemod.going
        self._apply_before = frozenset(codemod.apply_before)
        self._imports = Imports(module, source, facts.runtime_module, VIEW_OF, APPLIES_AT_END, APPLIED_NOW)

    def finished(self, changed: cst.Module) -> cst.Module:
        """Import the functions of the runtime that the module now uses."""
        return self._imports.added(changed, self.limit)

    # -- where

    def function_done(self, original: cst.FunctionDef, updated: cst.FunctionDef) -> cst.FunctionDef:
        """Decorate the function that resolves the record."""
        return self._marked(updated) if self._place() == self._resolution.entry else updated

    def _place(self) -> Definition | None:
        """Return the outermost of the functions around that the resolution reaches; None if it reaches none."""
        return next((place for place in self.definitions if place in self._resolution.reached), None)

    # -- what

    def _viewed(self, owner: cst.BaseExpression) -> cst.Call:
        self.count += 1
        return cst.Call(cst.Name(self._imports.of(VIEW_OF)), [cst.Arg(owner.with_changes(lpar=[], rpar=[]))])

    def _reads_record(self, owner: cst.BaseExpression) -> bool:
        """Return whether ``owner`` is the record, read during the resolution; a pass gets a view in its place."""
        if not self.holds_record(owner):
            return False
        place = self._place()
        return place is not None and place not in self._resolution.passes

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        """Read the field from the view."""
        if updated_node.attr.value in self._fields and self._reads_record(updated_node.value):
            return updated_node.with_changes(value=self._viewed(updated_node.value))
        return updated_node

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        """Make ``getattr`` and ``hasattr`` read the view; apply what waits before calls of ``apply_before``."""
        if name_of(updated_node.func) in _READS_BY_NAME and isinstance(updated_node.func, cst.Name):
            if len(updated_node.args) < 2 or not self._reads_record(updated_node.args[0].value):
                return updated_node
            first, name, *rest = updated_node.args
            if self._texts(name.value).isdisjoint(self._fields):
                return updated_node
            return updated_node.with_changes(args=[first.with_changes(value=self._viewed(first.value)), name, *rest])
        if self._apply_before and "".join(code(original_node.func).split()) in self._apply_before:
            return updated_node.with_changes(args=[self._applied_now(item) for item in updated_node.args])
        return updated_node

    def _applied_now(self, item: cst.Arg) -> cst.Arg:
        if item.star or not self._reads_record(item.value):
            return item
        self.count += 1
        return item.with_changes(value=cst.Call(cst.Name(self._imports.of(APPLIED_NOW)), [cst.Arg(item.value)]))

    def _texts(self, name: cst.BaseExpression) -> frozenset[str]:
        """Return the texts that ``name`` may be; if the source does not show them, all fields that can move."""
        if isinstance(name, cst.SimpleString):
            text = name.evaluated_value
            return frozenset([text]) if isinstance(text, str) else frozenset()
        if not isinstance(name, cst.Name):
            return frozenset()
        place = self._place()
        assert self.outermost is not None
        loops = [item for item in m.findall(self.outermost, m.For(m.Name(name.value))) if isinstance(item, cst.For)]
        if not loops:
            return self._resolution.names.get((place, name.value), self._fields) if place else self._fields
        found = [written_out(item)[1] for item in loops]
        return frozenset().union(*found) if all(found) else self._fields

    # -- the function that resolves

    def _marked(self, node: cst.FunctionDef) -> cst.FunctionDef:
        """Return ``node`` with the decorator; one from an earlier step gets the fields that it lacks."""
        decorators = list(node.decorators)
        for number, item in enumerate(decorators):
            call = item.decorator
            if isinstance(call, cst.Call) and name_of(call.func) == self._imports.known[APPLIES_AT_END]:
                known = [arg.value.evaluated_value for arg in call.args if isinstance(arg.value, cst.SimpleString)]
                added = [name for name in self._order if name not in known]
                if not added:
                    return node
                self.count += len(added)
                decorators[number] = item.with_changes(decorator=self._mark([*map(str, known), *added]))
                return node.with_changes(decorators=decorators)
        self.count += len(self._order)
        return node.with_changes(decorators=[*decorators, cst.Decorator(self._mark(self._order))])

    def _mark(self, names: Sequence[str]) -> cst.Call:
        quote = usual_quote(self.module.code)
        listed = ", ".join(f"{quote}{name}{quote}" for name in names)
        call = cst.parse_expression(f"{self._imports.of(APPLIES_AT_END)}({listed})")
        assert isinstance(call, cst.Call)
        return laid_out(call, self.width - 1)
