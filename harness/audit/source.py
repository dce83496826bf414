"""One file of a subject: its text, its syntax tree, and where in the text each node stands."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider, WhitespaceInclusivePositionProvider

from harness.audit.mutant import line_starts
from harness.audit.walk import Node, walk
from harness.common.errors import UsageError


class Span(NamedTuple):
    """Offsets into a text, the end excluded."""

    start: int
    end: int


class Source:
    """A parsed file. Raises UsageError for text that is not Python."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        try:
            # The parser makes each node once, so that no copy is needed to tell them apart.
            wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        except cst.ParserSyntaxError as error:
            raise UsageError(f"{file}:{error.raw_line} is not Python: {error.message}") from None
        self.module = wrapper.module
        self._inner = wrapper.resolve(PositionProvider)
        self._outer = wrapper.resolve(WhitespaceInclusivePositionProvider)
        self._starts = line_starts(text)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node that is code, in the order of the text."""
        return tuple(walk(self.module))

    def span(self, node: cst.CSTNode) -> Span:
        """Return where ``node`` stands, without the parentheses around it."""
        return self._offsets(self._inner[node])

    def outer(self, node: cst.BaseExpression) -> Span:
        """Return where an expression stands, with the parentheses around it."""
        return self._offsets(self._outer[node])

    def text_of(self, node: cst.CSTNode) -> str:
        """Return the node's text, without the parentheses around it."""
        start, end = self.span(node)
        return self.text[start:end]

    def outer_text(self, node: cst.BaseExpression) -> str:
        """Return an expression's text, with the parentheses around it."""
        start, end = self.outer(node)
        return self.text[start:end]

    def place_of(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def _offsets(self, found: CodeRange) -> Span:
        return Span(
            self._starts[found.start.line - 1] + found.start.column,
            self._starts[found.end.line - 1] + found.end.column,
        )
