"""A walk through a module that knows at each place the names that hold the record, and the indentation."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from functools import cached_property
from typing import Final, NamedTuple

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from codemods.frame.codemod import Change, Left
from codemods.reading.facts import RecordFacts
from codemods.reading.index import Definition, ModuleIndex
from codemods.reading.scopes import NOTHING, ScopeNames, record_scopes
from codemods.reading.source import SourceFile, Unreadable, line_limit
from codemods.writing.emit import code
from harness.source.scopes import scopes_in

_STATEMENT: Final = 300
"""How many characters of the code that was not changed are kept."""
_FunctionDone = cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel


class _Around(NamedTuple):
    """A function around the present place: its names, original node, number in the file, and the class around it."""

    names: ScopeNames
    node: cst.FunctionDef | cst.Lambda
    number: int
    owner: str


class RecordWalk(cst.CSTTransformer):
    """The base class of the walks of codemods; it keeps the context that LibCST's own walk does not know.

    Subclasses override ``leave_`` methods, which may use `scope`, `holds_record` and `width`. They count their
    changes in ``count``, and report with `leave_alone` the code that they do not change. `change` does the walk.
    ``also`` says of an expression, other than a name, whether it gives the record.
    """

    def __init__(
        self,
        module: cst.Module,
        source: SourceFile,
        facts: RecordFacts,
        also: Callable[[ast.expr], bool] | None = None,
    ) -> None:
        super().__init__()
        self.module = module
        self.source = source
        self.facts = facts
        self.path = source.path
        self.count = 0
        scopes = record_scopes(ModuleIndex(source.path, source.tree), facts, also)
        # The scopes belong to nodes of ``ast``. A node of LibCST cannot be looked up there, but functions and lambdas
        # have the same order in both trees.
        self._scopes = [scopes[node] for node in scopes_in(source.tree)]
        self._entered = 0
        self._around: list[_Around] = []
        self._owners: list[str] = []
        self._indents: list[str] = []
        self._left: list[tuple[cst.CSTNode, str, frozenset[str]]] = []

    # -- where we are

    @property
    def scope(self) -> ScopeNames:
        """The names of the innermost function."""
        return self._around[-1].names if self._around else NOTHING

    @property
    def number(self) -> int:
        """The number of the innermost function or lambda, counted from 0 in the order of the text."""
        return self._around[-1].number

    @property
    def outermost(self) -> cst.FunctionDef | cst.Lambda | None:
        """The outermost function around this place, as it was before the walk; None outside of functions."""
        return self._around[0].node if self._around else None

    @property
    def is_outermost(self) -> bool:
        """Whether there is exactly one function around this place."""
        return len(self._around) == 1

    @property
    def classes(self) -> list[str]:
        """The classes around this place, outermost first."""
        return [name for name in self._owners if name]

    @property
    def definitions(self) -> list[Definition]:
        """The functions around this place, outermost first; the name of a method is ``Class.method``."""
        return [
            Definition(self.path, f"{item.owner}.{item.node.name.value}" if item.owner else item.node.name.value)
            for item in self._around
            if isinstance(item.node, cst.FunctionDef)
        ]

    @cached_property
    def limit(self) -> int:
        """How long the lines of the file may be."""
        return line_limit(self.module.code)

    @property
    def width(self) -> int:
        """How many columns are left for a statement at this place, after its indentation."""
        return self.limit - len("".join(self._indents).expandtabs(8))

    def holds_record(self, node: cst.BaseExpression) -> bool:
        """Return whether ``node`` is a name that holds the record at this place."""
        return isinstance(node, cst.Name) and node.value in self.scope.records

    # -- the result

    def leave_alone(self, node: cst.CSTNode, reason: str, fields: Collection[str] = ()) -> None:
        """Note that ``node``, a node of the original module that accesses ``fields``, was not changed."""
        self._left.append((node, reason, frozenset(fields)))

    def change(self) -> Change:
        """Walk through the module, and return the result."""
        changed = self.module.visit(self)
        return Change(self.finished(changed) if self.count else self.module, self.count, self.left())

    def finished(self, changed: cst.Module) -> cst.Module:
        """Return the changed module with anything else that it needs, such as imports."""
        return changed

    def left(self) -> tuple[Left, ...]:
        """Return the code that was not changed, sorted by line."""
        if not self._left:
            return ()
        # Positions cost another walk through the module, so they are read only if they are needed.
        positions = MetadataWrapper(self.module, unsafe_skip_copy=True).resolve(PositionProvider)
        found = []
        for node, reason, fields in self._left:
            position = positions.get(node)
            start, end = (position.start.line, position.end.line) if position else (0, 0)
            # The comments before a statement are not part of its text.
            bare = node.with_changes(leading_lines=()) if hasattr(node, "leading_lines") else node
            text = " ".join(code(bare).split())[:_STATEMENT]
            found.append(Left(self.path, start, text, reason, fields, end))
        return tuple(sorted(found, key=lambda item: item[:4]))

    # -- the walk

    def _enter(self, node: cst.FunctionDef | cst.Lambda) -> None:
        number, self._entered = self._entered, self._entered + 1
        scope = self._scopes[number] if number < len(self._scopes) else NOTHING
        own = node.name.value if isinstance(node, cst.FunctionDef) else "<lambda>"
        parameters = (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params)
        signature = (own, *(item.name.value for item in parameters))
        if scope.signature[: len(signature)] != signature:
            # The order of the two trees differs, so the scopes may belong to other functions.
            raise Unreadable(f"function {own!r} was not found where it should be")
        self._around.append(_Around(scope, node, number, self._owners[-1] if self._owners else ""))

    def visit_ClassDef(self, node: cst.ClassDef) -> bool | None:
        """Enter the class."""
        self._owners.append(node.name.value)
        return None

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.BaseStatement:
        """Leave the class."""
        self._owners.pop()
        return updated_node

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool | None:
        """Enter the function's scope."""
        self._enter(node)
        # A function inside a method is not a method of the class: until it ends, no class is the owner.
        self._owners.append("")
        return None

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> _FunctionDone:
        """Leave the function's scope, and return the result of `function_done`."""
        self._owners.pop()
        done = self.function_done(original_node, updated_node)
        self._around.pop()
        return done

    def function_done(self, original: cst.FunctionDef, updated: cst.FunctionDef) -> _FunctionDone:
        """Return the replacement of a function, which is by default ``updated``; the walk is still in its scope."""
        return updated

    def visit_Lambda(self, node: cst.Lambda) -> bool | None:
        """Enter the lambda's scope."""
        self._enter(node)
        return None

    def leave_Lambda(self, original_node: cst.Lambda, updated_node: cst.Lambda) -> cst.BaseExpression:
        """Leave the lambda's scope."""
        self._around.pop()
        return updated_node

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> bool | None:
        """Note the indentation of the block."""
        self._indents.append(self.module.default_indent if node.indent is None else node.indent)
        return None

    def leave_IndentedBlock(self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock) -> cst.BaseSuite:
        """Forget the indentation of the block."""
        self._indents.pop()
        return updated_node
