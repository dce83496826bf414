"""Reads the tables and lists of a module: their entries for a field, and the functions that they list."""

from __future__ import annotations

import ast
from collections.abc import Collection
from collections.abc import Set as AbstractSet
from typing import Any

from harness.moves.cuts import CutLine
from harness.source.nodes import is_text, last_name, text_of, texts_in


class TableText:
    """The value that a module assigns to one name, such as a table of entries or a list of functions.

    ``texts`` has the literal texts in it. ``names`` has all names and attributes in it, each with its line, in the
    order of the text.
    """

    def __init__(self, value: ast.expr) -> None:
        self._value = value
        nodes = list(ast.walk(value))
        self.texts = frozenset(texts_in(nodes))
        named = [node for node in nodes if isinstance(node, ast.Attribute | ast.Name)]
        found = sorted((node.lineno, node.col_offset, last_name(node)) for node in named)
        self.names = [(name, line) for line, _, name in found]

    def entries(self, field: str) -> list[CutLine]:
        """Return the values that have ``field`` as key, and the places where it is a member of a list or set."""
        lines = list[CutLine]()
        if field in self.texts:
            self._search(self._value, field, "", lines)
        return lines

    def _search(self, node: ast.AST, field: str, under: str, lines: list[CutLine]) -> None:
        """Add the entries for ``field`` in ``node`` to ``lines``; ``under`` has the keys on the way to ``node``."""
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if text_of(key) == field:
                    lines.append(CutLine(0, f"{under}{ast.dump(value)}", value.lineno))
                else:
                    self._search(value, field, under if key is None else f"{under}{ast.dump(key)}: ", lines)
        elif isinstance(node, ast.List | ast.Set | ast.Tuple):
            for item in node.elts:
                if text_of(item) == field:
                    lines.append(CutLine(0, f"{under}member", item.lineno))
                else:
                    self._search(item, field, under, lines)
        else:
            for child in ast.iter_child_nodes(node):
                self._search(child, field, under, lines)

    def listed(self, names: AbstractSet[str]) -> list[CutLine]:
        """Return those of ``names`` that it mentions, in the order of the text."""
        return [CutLine(0, name, line) for name, line in self.names if name in names]

    def maps_to_texts(self, fields: Collection[str]) -> bool:
        """Return whether it maps only fields, and only to texts, as a table from fields to flags does."""
        table: Any = self._value
        return (
            isinstance(table, ast.Dict)
            and all(isinstance(key, ast.Constant) and key.value in fields for key in table.keys)
            and all(map(is_text, table.values))
        )
