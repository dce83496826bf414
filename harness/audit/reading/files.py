"""A source file: its text, its syntax tree, and where in the text each node is."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider, WhitespaceInclusivePositionProvider

from harness.audit.reading.mutant import line_starts
from harness.audit.reading.walk import CodeNode, walk
from harness.common.errors import UsageError


class TextSpan(NamedTuple):
    """A stretch of a text, as offsets; ``end`` is the first offset behind it."""

    start: int
    end: int


class MutableFile:
    """A parsed file. Raises UsageError for text that is not Python."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        try:
            # By default the wrapper copies the tree, since a node that is in it twice would have two positions. The
            # parser makes each node once, so the copy is not needed; it would take a third of the time.
            wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        except cst.ParserSyntaxError as error:
            raise UsageError(f"{name}:{error.raw_line} is not Python: {error.message}") from None
        self.module = wrapper.module
        self._inner = wrapper.resolve(PositionProvider)
        self._outer = wrapper.resolve(WhitespaceInclusivePositionProvider)
        self._starts = line_starts(text)

    @cached_property
    def nodes(self) -> tuple[CodeNode, ...]:
        """Every node that can be at fault, in the order of the text."""
        return tuple(walk(self.module))

    def span(self, node: cst.CSTNode) -> TextSpan:
        """Return where ``node`` is, without the parentheses around it."""
        return self._offsets(self._inner[node])

    def outer(self, node: cst.BaseExpression) -> TextSpan:
        """Return where an expression is, with the parentheses around it."""
        return self._offsets(self._outer[node])

    def text_of(self, node: cst.CSTNode) -> str:
        """Return the node's text, without the parentheses around it."""
        start, end = self.span(node)
        return self.text[start:end]

    def outer_text(self, node: cst.BaseExpression) -> str:
        """Return an expression's text, with the parentheses around it."""
        start, end = self.outer(node)
        return self.text[start:end]

    def position_of(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset, both counted from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def _offsets(self, found: CodeRange) -> TextSpan:
        return TextSpan(
            self._starts[found.start.line - 1] + found.start.column,
            self._starts[found.end.line - 1] + found.end.column,
        )
