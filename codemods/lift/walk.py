"""Walks through a module and lifts declarations out of each function of the resolution."""

from __future__ import annotations

import libcst as cst

from codemods.frame.codemod import FieldCodemod
from codemods.lift.blocks import BlockLifter
from codemods.lift.handler import Handler
from codemods.lift.passes import PROVIDE, PROVIDES, RUN, PassMaker
from codemods.reading.index import ModuleIndex
from codemods.reading.source import SourceFile
from codemods.writing.emit import names_in
from codemods.writing.imports import Imports, without_import
from codemods.writing.record_walk import RecordWalk
from harness.source.scopes import parameters_of, scopes_in


class Lifter(RecordWalk):
    """Lifts declarations of the codemod's fields; ``declare`` is the module's name for the function that declares.

    The passes go to the end of the module. With ``force``, regions are also lifted if nothing shows that it is safe.
    """

    def __init__(
        self, module: cst.Module, source: SourceFile, codemod: FieldCodemod, declare: str, force: bool
    ) -> None:
        super().__init__(module, source, codemod.facts)
        self._fields = frozenset(codemod.fields)
        self._declare = declare
        self._force = force
        self._index = ModuleIndex(source.path, source.tree)
        self._nodes = scopes_in(source.tree)
        self._imports = Imports(module, source, codemod.facts.runtime_module, RUN, PROVIDE, PROVIDES)
        self._maker = PassMaker(names_in(module), self._imports, declare, self.limit)

    def function_done(self, original: cst.FunctionDef, updated: cst.FunctionDef) -> cst.FunctionDef:
        """Lift what can be lifted out of a function of the resolution; functions inside it stay as they are."""
        records = self.scope.records
        if not self.is_outermost or not records or not isinstance(original.body, cst.IndentedBlock):
            return updated
        if original.asynchronous is not None:
            return updated
        node = self._nodes[self.number]
        handler = Handler(
            original.name.value, node, records, self._fields, self._index, self.facts, self._declare, self._force
        )
        if not handler.is_ours(handler.declares(node.body if isinstance(node.body, list) else [])):
            return updated
        work = BlockLifter(handler, self._maker, self.leave_alone, self.width)
        body = work.lifted(original.body.body, frozenset(parameters_of(node)))
        self.count += work.count
        return original.with_changes(body=original.body.with_changes(body=body))

    def finished(self, changed: cst.Module) -> cst.Module:
        """Put the passes at the end, where every name they use is defined, and bring the imports up to date."""
        blank = [cst.EmptyLine(indent=False)] * 2
        made = [item.with_changes(leading_lines=blank) for item in self._maker.made]
        changed = self._imports.added(changed.with_changes(body=[*changed.body, *made]), self.limit)
        return without_import(changed, self.facts.runtime_module, self._declare)
