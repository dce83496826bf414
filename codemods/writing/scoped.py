"""A walk through a module that knows, at each place, which names hold the record and how far in the line starts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

import libcst as cst
from libcst.metadata import CodePosition, MetadataWrapper, PositionProvider

from codemods.frame.codemod import Left
from codemods.reading.facts import RecordFacts
from codemods.reading.index import ModuleIndex
from codemods.reading.scopes import NOTHING, ScopeNames, record_scopes
from codemods.reading.source import SourceFile, Unreadable
from codemods.writing.emit import code
from harness.source.scopes import scopes_in

_STATEMENT = 300


class Names(cst.CSTVisitor):
    """Collects every name that a piece of code mentions, attributes, keywords and imports included."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def visit_Name(self, node: cst.Name) -> None:
        """Take the name."""
        self.found.add(node.value)


def names_in(node: cst.CSTNode) -> set[str]:
    """Return every name that ``node`` mentions."""
    visitor = Names()
    node.visit(visitor)
    return visitor.found


class ScopedTransformer(cst.CSTTransformer):
    """Subclasses override ``leave_`` methods and ask `records`, `scope` and `width`.

    What they leave they report with `leave_alone`; `left` turns that into lines, which costs a pass of its own and
    is only done where there is something to say.
    """

    def __init__(
        self,
        module: cst.Module,
        source: SourceFile,
        facts: RecordFacts,
        limit: int,
        also: Callable[[ast.expr], bool] | None = None,
    ) -> None:
        super().__init__()
        self._module = module
        self._source = source
        self._limit = limit
        scopes = record_scopes(ModuleIndex(source.path, source.tree), facts, also)
        # The nodes of the two kinds of tree have nothing but their order in common.
        self._scopes = {number: scopes[node] for number, node in enumerate(scopes_in(source.tree))}
        self._number = -1
        self._stack: list[tuple[ScopeNames, cst.FunctionDef | cst.Lambda]] = []
        self._indents: list[str] = []
        self._left: list[tuple[cst.CSTNode, str]] = []
        self.count = 0

    # -- where we are

    @property
    def scope(self) -> ScopeNames:
        """The names of the innermost function."""
        return self._stack[-1][0] if self._stack else NOTHING

    @property
    def functions(self) -> Iterable[cst.FunctionDef | cst.Lambda]:
        """The functions around, outermost first, as they were before the walk."""
        return [node for _, node in self._stack]

    @property
    def width(self) -> int:
        """How many columns a statement may take where the walk is."""
        return self._limit - len("".join(self._indents).expandtabs(8))

    def holds_record(self, node: cst.BaseExpression) -> bool:
        """Return whether ``node`` is a name that holds the record here."""
        return isinstance(node, cst.Name) and node.value in self.scope.records

    def leave_alone(self, node: cst.CSTNode, reason: str) -> None:
        """Note that ``node``, a node of the module as given, was left."""
        self._left.append((node, reason))

    def left(self) -> tuple[Left, ...]:
        """Return what was left, by line."""
        if not self._left:
            return ()
        wrapper = MetadataWrapper(self._module, unsafe_skip_copy=True)
        positions = wrapper.resolve(PositionProvider)
        found = []
        for node, reason in self._left:
            position = positions.get(node)
            start = position.start if position else CodePosition(0, 0)
            # The comments before a statement say nothing of what was left.
            bare = node.with_changes(leading_lines=()) if hasattr(node, "leading_lines") else node
            found.append(Left(self._source.path, start.line, " ".join(code(bare).split())[:_STATEMENT], reason))
        return tuple(sorted(found))

    # -- the walk

    def _enter(self, node: cst.FunctionDef | cst.Lambda) -> None:
        self._number += 1
        scope = self._scopes.get(self._number, NOTHING)
        own = node.name.value if isinstance(node, cst.FunctionDef) else "<lambda>"
        parameters = (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params)
        signature = (own, *(item.name.value for item in parameters))
        if scope.signature[: len(signature)] != signature:
            # Both trees number the functions in the order of the text; where that fails, nothing is certain.
            raise Unreadable(f"function {own!r} was not found where it should be")
        self._stack.append((scope, node))

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool | None:
        """Enter the function's scope."""
        self._enter(node)
        return None

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        """Leave the function's scope."""
        self._stack.pop()
        return updated_node

    def visit_Lambda(self, node: cst.Lambda) -> bool | None:
        """Enter the lambda's scope."""
        self._enter(node)
        return None

    def leave_Lambda(self, original_node: cst.Lambda, updated_node: cst.Lambda) -> cst.BaseExpression:
        """Leave the lambda's scope."""
        self._stack.pop()
        return updated_node

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> bool | None:
        """Go one indentation further in."""
        self._indents.append(self._module.default_indent if node.indent is None else node.indent)
        return None

    def leave_IndentedBlock(self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock) -> cst.BaseSuite:
        """Come back."""
        self._indents.pop()
        return updated_node
