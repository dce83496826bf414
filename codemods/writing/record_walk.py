"""A walk through a module that knows, at each place, which names hold the record and how far in the line starts."""

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
_FunctionDone = cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel


class _Around(NamedTuple):
    """A function around the walk: its names, its node as it was, its number in the file, and the class it is in."""

    names: ScopeNames
    node: cst.FunctionDef | cst.Lambda
    number: int
    owner: str


class RecordWalk(cst.CSTTransformer):
    """The context of one codemod in one module: what LibCST's own walk does not know is kept here.

    Subclasses override ``leave_`` methods and ask `records`, `scope` and `width`; they count what they change in
    ``count`` and report what they leave with `leave_alone`. `change` walks. ``also`` says of expressions whether they
    give the record.
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
        # LibCST's nodes and those of ``ast``, by which scopes are known, have nothing but their order in common.
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
        """Which of the file's functions and lambdas the innermost is, in the order of the text."""
        return self._around[-1].number

    @property
    def outermost(self) -> cst.FunctionDef | cst.Lambda | None:
        """The outermost function around, as it was before the walk; None outside of functions."""
        return self._around[0].node if self._around else None

    @property
    def is_outermost(self) -> bool:
        """Whether the innermost function is the outermost one."""
        return len(self._around) == 1

    @property
    def classes(self) -> list[str]:
        """The classes around, outermost first."""
        return [name for name in self._owners if name]

    @property
    def definitions(self) -> list[Definition]:
        """The functions around, outermost first; a method is called ``Class.method``."""
        return [
            Definition(self.path, f"{item.owner}.{item.node.name.value}" if item.owner else item.node.name.value)
            for item in self._around
            if isinstance(item.node, cst.FunctionDef)
        ]

    @cached_property
    def limit(self) -> int:
        """How long the file's lines are at most."""
        return line_limit(self.module.code)

    @property
    def width(self) -> int:
        """How many columns a statement may take where the walk is."""
        return self.limit - len("".join(self._indents).expandtabs(8))

    def holds_record(self, node: cst.BaseExpression) -> bool:
        """Return whether ``node`` is a name that holds the record here."""
        return isinstance(node, cst.Name) and node.value in self.scope.records

    # -- what comes of it

    def leave_alone(self, node: cst.CSTNode, reason: str, fields: Collection[str] = ()) -> None:
        """Note that ``node``, a node of the module as given, was left; it has to do with ``fields``."""
        self._left.append((node, reason, frozenset(fields)))

    def change(self) -> Change:
        """Walk, and return what became of the module."""
        changed = self.module.visit(self)
        return Change(self.finished(changed) if self.count else self.module, self.count, self.left())

    def finished(self, changed: cst.Module) -> cst.Module:
        """Return the module that was changed with what it needs besides, such as imports."""
        return changed

    def left(self) -> tuple[Left, ...]:
        """Return what was left, by line."""
        if not self._left:
            return ()
        # Positions cost a pass of their own, which is only made where there is something to say.
        positions = MetadataWrapper(self.module, unsafe_skip_copy=True).resolve(PositionProvider)
        found = []
        for node, reason, fields in self._left:
            position = positions.get(node)
            start, end = (position.start.line, position.end.line) if position else (0, 0)
            # The comments before a statement say nothing of what was left.
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
            # Both trees number the functions in the order of the text; where that fails, nothing is certain.
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
        # A function inside a method is no method of the class.
        self._owners.append("")
        return None

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> _FunctionDone:
        """Leave the function's scope, with what `function_done` makes of the function."""
        self._owners.pop()
        done = self.function_done(original_node, updated_node)
        self._around.pop()
        return done

    def function_done(self, original: cst.FunctionDef, updated: cst.FunctionDef) -> _FunctionDone:
        """Return what becomes of a function; the walk is still in its scope."""
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
        """Go one indentation further in."""
        self._indents.append(self.module.default_indent if node.indent is None else node.indent)
        return None

    def leave_IndentedBlock(self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock) -> cst.BaseSuite:
        """Come back."""
        self._indents.pop()
        return updated_node
