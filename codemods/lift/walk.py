"""Walks a module and lifts out of each function of the resolution."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from codemods.lift.blocks import Function
from codemods.lift.chains import Chains
from codemods.lift.passes import Maker, Names
from codemods.reading.architecture import architecture_names
from codemods.reading.facts import RecordFacts
from codemods.reading.index import Definition, ModuleIndex
from codemods.reading.source import SourceFile
from codemods.writing.pure import is_pure
from codemods.writing.regions import Regions
from codemods.writing.scoped import ScopedTransformer, names_in
from harness.source.scopes import parameters_of, scopes_in, times_bound


class Lifter(ScopedTransformer):
    """Lifts declarations of ``fields`` made by ``declare``; the functions made go to the end of the module."""

    def __init__(
        self,
        module: cst.Module,
        source: SourceFile,
        facts: RecordFacts,
        fields: frozenset[str],
        names: Names,
        *,
        declare: str,
        limit: int,
        force: bool,
    ) -> None:
        super().__init__(module, source, facts, limit)
        self._facts = facts
        self._fields = fields
        self._declare = declare
        self._force = force
        self._path = source.path
        self._index = ModuleIndex(source.path, source.tree)
        self._nodes = scopes_in(source.tree)
        self._numbers: list[int] = []
        self._maker = Maker(names_in(module), names, declare, limit)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool | None:
        """Enter the function, and remember which it is."""
        self._enter(node)
        self._numbers.append(self._number)
        return None

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        """Lift what can be lifted out of a function of the resolution; those inside it are left as they are."""
        scope, outermost = self.scope, len(list(self.functions)) == 1
        number = self._numbers.pop()
        self._stack.pop()
        if not outermost or not scope.records or not isinstance(original_node.body, cst.IndentedBlock):
            return updated_node
        if original_node.asynchronous is not None:
            return updated_node
        node = self._nodes[number]
        regions = Regions(self._index, self._facts, node, scope.records, self._declare, force=self._force)
        if not self._is_ours(regions.declares(node.body if isinstance(node.body, list) else [])):
            return updated_node
        local = times_bound(node).keys() | parameters_of(node).keys()
        work = Function(
            original_node.name.value,
            sorted(scope.records),
            regions,
            Chains(
                regions,
                self._is_ours,
                lambda item: is_pure(cst.parse_expression(ast.unparse(item)), scope.records, self._facts.fields),
                local.__contains__,
                force=self._force,
            ),
            self._maker,
            is_ours=self._is_ours,
            architectures=architecture_names(node),
            constant=lambda name: self._facts.constants.get(Definition(self._path, name)),
            leave=self.leave_alone,
            width=self.width,
        )
        body = work.body(original_node.body.body, frozenset(parameters_of(node)))
        self.count += work.count
        return original_node.with_changes(body=original_node.body.with_changes(body=body))

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        """Put the passes at the end of the module, where every name they use is defined."""
        blank = [cst.EmptyLine(indent=False)] * 2
        made = [item.with_changes(leading_lines=blank) for item in self._maker.made]
        return updated_node.with_changes(body=[*updated_node.body, *made])

    def _is_ours(self, declared: Sequence[str]) -> bool:
        return not self._fields.isdisjoint(declared)
