"""Where a node is in the text, and how to find the same node in a tree of libcst.

`ast` counts columns in UTF-8 bytes, libcst in characters. `CharacterColumns` converts the columns, so that what was
found with `ast` can be looked up by the span of a node of libcst:
``CharacterColumns(text).by_span(writes)[libcst_span]``.
"""

import ast
from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar


class NodeSpan(NamedTuple):
    """Where a node begins and ends: lines from 1, columns from 0, the end column excluded."""

    line: int
    column: int
    end_line: int
    end_column: int


class _Located(Protocol):
    @property
    def node(self) -> ast.expr: ...


LocatedT = TypeVar("LocatedT", bound=_Located)


def span_of(node: ast.expr | ast.stmt) -> NodeSpan:
    """Return the span of a node as `ast` counts it, with columns in UTF-8 bytes."""
    line, column = node.lineno, node.col_offset
    return NodeSpan(line, column, node.end_lineno or line, node.end_col_offset or column)


def text_at(lines: list[bytes], span: NodeSpan) -> str:
    """Return what is written in a span (columns in bytes) of the ``lines`` of its file, joined to one line."""
    part = lines[span.line - 1 : span.end_line]
    part[-1] = part[-1][: span.end_column]
    part[0] = part[0][span.column :]
    return " ".join(b" ".join(part).decode(errors="replace").split())


class CharacterColumns:
    """Converts spans in one text from columns in bytes to columns in characters.

    Names, attributes, calls, subscripts and comparisons then have the span that libcst's ``PositionProvider`` gives
    them. Two kinds of nodes do not: a tuple with parentheses, which `ast` includes and libcst does not, and a
    decorated function, which in libcst begins at its first decorator.
    """

    def __init__(self, text: str) -> None:
        # Not str.splitlines: it also splits at form feeds and other separators, which end no line of Python.
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._wide = {number: line for number, line in enumerate(lines, 1) if not line.isascii()}

    def characters(self, line: int, column: int) -> int:
        """Return the column in characters of a ``column`` in bytes."""
        wide = self._wide.get(line)
        return column if wide is None else len(wide.encode()[:column].decode(errors="replace"))

    def span(self, node: ast.expr | ast.stmt) -> NodeSpan:
        """Return the span of a node of `ast` with columns in characters."""
        line, column, end_line, end_column = span_of(node)
        if not self._wide:
            return NodeSpan(line, column, end_line, end_column)
        return NodeSpan(line, self.characters(line, column), end_line, self.characters(end_line, end_column))

    def by_span(self, found: Iterable[LocatedT]) -> dict[NodeSpan, list[LocatedT]]:
        """Return what was ``found`` by the span of its ``node`` (columns in characters), in the given order."""
        spans: dict[NodeSpan, list[LocatedT]] = {}
        for one in found:
            spans.setdefault(self.span(one.node), []).append(one)
        return spans
