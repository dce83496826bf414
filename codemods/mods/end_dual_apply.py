"""Lets a resolution read a field from the view and set it once, when it ends: the end of dual-apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import libcst as cst
import libcst.matchers as m

from codemods.frame.codemod import Change, Codemod, Left
from codemods.reading.facts import Hidden, RecordFacts
from codemods.reading.index import Definition
from codemods.reading.source import SourceFile, line_limit, usual_quote
from codemods.runtime.names import APPLIED_NOW, APPLIES_AT_END, VIEW_OF
from codemods.writing.emit import laid_out, name_of
from codemods.writing.imports import name_for, with_import
from codemods.writing.loops import written_out
from codemods.writing.scoped import ScopedTransformer

_MANY = 3
_READS_BY_NAME = ("getattr", "hasattr")


@dataclass
class EndDualApply(Codemod):
    """Applies what is declared of ``fields`` when the resolution ends, where each of its readers is known.

    The function that resolves the record gets ``applies_at_end``, and what it reaches reads the field from
    ``view_of`` the record. A field of which some reader or writer is not known stays as it is, and what is in the way
    is listed. `record_writes` comes first: an assignment is in the way.

    ``apply_before`` are callees, as they are written, that are handed the record and cannot be followed, such as
    plugins: what waits is applied before each, so that they see what they saw. Whoever names one vouches that it
    does not keep the record to read it later in the resolution. They may be one text, with commas between.
    """

    summary: ClassVar[str] = "a field's readers during the resolution read a view, and it is set once, at the end"
    reads_anew: ClassVar[bool] = True

    facts: RecordFacts
    fields: tuple[str, ...]
    apply_before: tuple[str, ...] | str = ()

    def __post_init__(self) -> None:
        """Raises UsageError for a name that is neither a field nor assigned in the record's methods."""
        for name in self.fields:
            self.facts.check_written(name)
        named = self.apply_before.split(",") if isinstance(self.apply_before, str) else self.apply_before
        self.apply_before = tuple(name.strip() for name in named if name.strip())
        resolution = self.facts.resolution
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
        """The fields that go, in the order given."""
        return self._going

    def words(self) -> tuple[str, ...]:
        """Return the fields' names, that of the function that resolves the record, and those of the callees."""
        entry = self.facts.resolution.entry or Definition("", self.facts.record.name)
        callees = (name.rpartition(".")[2] for name in self.apply_before)
        return (*self.fields, entry.name.rpartition(".")[2], *callees)

    def concerns(self, source: SourceFile) -> bool:
        """Return whether the file holds part of the resolution."""
        files = {place.file for place in self.facts.resolution.reached}
        return source.path in (files or {self.facts.record.file}) and source.path != self.facts.runtime_file

    def apply(self, module: cst.Module, source: SourceFile) -> Change:
        """Return the module with its reads from the view; the entry's file also lists what is in the way."""
        left = self._left() if source.path == self._home() else ()
        if not self._going:
            return Change(module, 0, left)
        runtime = self.facts.runtime_module
        names = {
            offered: name_for(module, source.data, runtime, offered)
            for offered in (VIEW_OF, APPLIES_AT_END, APPLIED_NOW)
        }
        limit = line_limit(module.code)
        walk = _Reader(module, source, self, names, limit)
        changed = module.visit(walk)
        if not walk.count:
            return Change(module, 0, left)
        for offered in sorted(walk.used):
            changed = with_import(changed, runtime, offered, names[offered], limit=limit)
        return Change(changed, walk.count, left)

    def _home(self) -> str:
        entry = self.facts.resolution.entry
        return entry.file if entry else self.facts.record.file

    def _left(self) -> tuple[Left, ...]:
        """Return what is in the way of which fields."""
        home = self.facts.resolution.entry or self.facts.record
        odd = [Left(home.file, 0, name, why) for name, why in self._odd.items()]
        found = [
            Left(item.file, item.line, item.what, f"{self._listed(names)}: {item.reason}")
            for item, names in self._in_the_way.items()
        ]
        return tuple(sorted([*odd, *found]))

    def _listed(self, names: Sequence[str]) -> str:
        every = len(names) == len(self.fields) > _MANY
        return f"all {len(names)} fields" if every else ", ".join(names)


class _Reader(ScopedTransformer):
    def __init__(
        self, module: cst.Module, source: SourceFile, codemod: EndDualApply, names: dict[str, str], limit: int
    ) -> None:
        facts = codemod.facts
        passed = dict(facts.passed)
        for place, parameters in facts.resolution.reached.items():
            passed[place] = passed.get(place, frozenset()) | parameters
        super().__init__(module, source, replace(facts, passed=passed), limit)
        self._path = source.path
        self._resolution = facts.resolution
        self._fields = frozenset(codemod.going)
        self._order = codemod.going
        self._apply_before = frozenset(codemod.apply_before)
        self._text = module.code_for_node
        self._names = names
        self._owners: list[str] = []
        self.used: set[str] = set()

    # -- where

    def visit_ClassDef(self, node: cst.ClassDef) -> bool | None:
        """Enter the class."""
        self._owners.append(node.name.value)
        return None

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.BaseStatement:
        """Leave the class."""
        self._owners.pop()
        return updated_node

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool | None:
        """Enter the function."""
        super().visit_FunctionDef(node)
        # What a class inside a function holds goes by that class.
        self._owners.append("")
        return None

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        """Mark the function that resolves the record."""
        place = self._place()
        self._owners.pop()
        super().leave_FunctionDef(original_node, updated_node)
        if place != self._resolution.entry:
            return updated_node
        return self._marked(updated_node)

    def _place(self) -> Definition | None:
        """Return the function that is walked, if the resolution reaches it; inside another one it is part of that."""
        names = [node.name.value for node in self.functions if isinstance(node, cst.FunctionDef)]
        depths = [number for number, owner in enumerate(self._owners) if owner == ""]
        for name, depth in zip(names, depths, strict=False):
            owner = self._owners[depth - 1] if depth else ""
            place = Definition(self._path, f"{owner}.{name}" if owner else name)
            if place in self._resolution.reached:
                return place
        return None

    # -- what

    def _use(self, offered: str) -> cst.Name:
        self.used.add(offered)
        return cst.Name(self._names[offered])

    def _viewed(self, owner: cst.BaseExpression) -> cst.Call:
        self.count += 1
        return cst.Call(self._use(VIEW_OF), [cst.Arg(owner.with_changes(lpar=[], rpar=[]))])

    def _reads_record(self, owner: cst.BaseExpression) -> bool:
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
        """Read by name from the view, and apply what waits before the record is handed on."""
        if name_of(updated_node.func) in _READS_BY_NAME and isinstance(updated_node.func, cst.Name):
            if len(updated_node.args) < 2 or not self._reads_record(updated_node.args[0].value):
                return updated_node
            first, name, *rest = updated_node.args
            if self._texts(name.value).isdisjoint(self._fields):
                return updated_node
            return updated_node.with_changes(args=[first.with_changes(value=self._viewed(first.value)), name, *rest])
        if self._apply_before and "".join(self._text(original_node.func).split()) in self._apply_before:
            return updated_node.with_changes(args=[self._applied_now(item) for item in updated_node.args])
        return updated_node

    def _applied_now(self, item: cst.Arg) -> cst.Arg:
        if item.star or not self._reads_record(item.value):
            return item
        self.count += 1
        return item.with_changes(value=cst.Call(self._use(APPLIED_NOW), [cst.Arg(item.value)]))

    def _texts(self, name: cst.BaseExpression) -> frozenset[str]:
        if isinstance(name, cst.SimpleString):
            text = name.evaluated_value
            return frozenset([text]) if isinstance(text, str) else frozenset()
        if not isinstance(name, cst.Name):
            return frozenset()
        place = self._place()
        (outermost, *_) = self.functions
        loops = [item for item in m.findall(outermost, m.For(m.Name(name.value))) if isinstance(item, cst.For)]
        if not loops:
            return self._resolution.names.get((place, name.value), self._fields) if place else self._fields
        found = [written_out(item)[1] for item in loops]
        return frozenset().union(*found) if all(found) else self._fields

    # -- the function that resolves

    def _marked(self, node: cst.FunctionDef) -> cst.FunctionDef:
        decorators = list(node.decorators)
        for number, item in enumerate(decorators):
            call = item.decorator
            if isinstance(call, cst.Call) and name_of(call.func) == self._names[APPLIES_AT_END]:
                known = [arg.value.evaluated_value for arg in call.args if isinstance(arg.value, cst.SimpleString)]
                added = [name for name in self._order if name not in known]
                if not added:
                    return node
                self.count += len(added)
                decorators[number] = item.with_changes(decorator=self._mark([*map(str, known), *added]))
                return node.with_changes(decorators=decorators)
        self.count += len(self._order)
        self.used.add(APPLIES_AT_END)
        first = cst.Decorator(self._mark(self._order))
        if decorators or not node.leading_lines:
            return node.with_changes(decorators=[*decorators, first])
        return node.with_changes(decorators=[first])

    def _mark(self, names: Sequence[str]) -> cst.Call:
        quote = usual_quote(self._module.code)
        call = cst.Call(
            cst.Name(self._names[APPLIES_AT_END]),
            [
                cst.Arg(
                    cst.SimpleString(f"{quote}{name}{quote}"),
                    comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
                    if number + 1 < len(names)
                    else cst.MaybeSentinel.DEFAULT,
                )
                for number, name in enumerate(names)
            ],
        )
        return laid_out(call, self.width - 1)
