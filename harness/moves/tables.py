"""What the tables and lists of a module say of a field."""

from __future__ import annotations

import ast
from collections.abc import Collection
from collections.abc import Set as AbstractSet
from typing import Any

from harness.moves.statements import Line, is_text


class Table:
    """What a module assigns to one name: a display of entries, or a list of functions.

    ``texts`` are the texts in it, ``names`` all names and attributes, in the order of the text, each with its line.
    """

    def __init__(self, value: ast.expr) -> None:
        self._value = value
        nodes = list(ast.walk(value))
        self.texts = frozenset(node.value for node in nodes if is_text(node))
        found = [
            (node.lineno, node.col_offset, node.attr if isinstance(node, ast.Attribute) else node.id)
            for node in nodes
            if isinstance(node, ast.Attribute | ast.Name)
        ]
        self.names = [(name, line) for line, _, name in sorted(found)]

    def entries(self, field: str) -> list[Line]:
        """Return what stands under the name of ``field``, and where the name is a member."""
        if field not in self.texts:
            return []
        lines = list[Line]()
        self._search(self._value, field, "", lines)
        return lines

    def _search(self, node: ast.AST, field: str, under: str, lines: list[Line]) -> None:
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if _is_name(key, field):
                    lines.append(Line(0, f"{under}{ast.dump(value)}", value.lineno))
                else:
                    inside = under if key is None else f"{under}{ast.dump(key)}: "
                    self._search(value, field, inside, lines)
        elif isinstance(node, ast.List | ast.Set | ast.Tuple):
            for item in node.elts:
                if _is_name(item, field):
                    lines.append(Line(0, f"{under}member", item.lineno))
                else:
                    self._search(item, field, under, lines)
        else:
            for child in ast.iter_child_nodes(node):
                self._search(child, field, under, lines)

    def listed(self, names: AbstractSet[str]) -> list[Line]:
        """Return those of ``names`` that it lists, in its order."""
        return [Line(0, name, line) for name, line in self.names if name in names]

    def maps_to_texts(self, fields: Collection[str]) -> bool:
        """Whether it maps fields, and nothing else, to texts: a field's name to its flag's."""
        table: Any = self._value
        return (
            isinstance(table, ast.Dict)
            and all(isinstance(key, ast.Constant) and key.value in fields for key in table.keys)
            and all(map(is_text, table.values))
        )


def _is_name(node: ast.AST | None, field: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == field
