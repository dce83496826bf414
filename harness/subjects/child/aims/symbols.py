"""Finds what the modules of a tree define, by name: functions, constants, constants of classes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ....source.functions import defined_in
from ....source.nodes import Function, decorator_names, text_of
from ....source.writes import targets_of

# If more functions than this share a name, we do not guess which of them a call means.
_MOST_NAMESAKES = 2


class Symbols:
    """The definitions of parsed modules (``{module name: ast.Module}``).

    - ``functions`` maps a name to the functions of that name in all modules.
    - ``properties`` are the names of those functions that are properties.
    - ``constants`` maps a name at the top level of a module to the first expression that is assigned to it.
    - ``members`` maps a class and its attribute to the constant that the attribute holds.
    """

    def __init__(self, trees: dict[str, ast.Module]) -> None:
        self.functions: dict[str, list[Function]] = {}
        self.constants: dict[str, ast.expr] = {}
        self.members: dict[tuple[str, str], Any] = {}
        self.properties: set[str] = set()
        self._module: dict[ast.AST, str] = {}
        for module, tree in trees.items():
            for name, value in _first_targets(tree.body):
                self.constants.setdefault(name, value)
            # From the last definition to the first. Aims are numbered in this order and drawn by number, so another
            # order would change the cases of a seed.
            for found in reversed(defined_in(tree)):
                if isinstance(found.node, ast.ClassDef):
                    self._scan_class(found.node)
                else:
                    self.functions.setdefault(found.name, []).append(found.node)
                    self._module[found.node] = module
                    if "property" in decorator_names(found.node):
                        self.properties.add(found.name)

    def _scan_class(self, node: Any) -> None:
        for name, value in _first_targets(node.body):
            if name.isupper():
                # A member whose value is not text becomes ``Class.NAME``: the generator's options name it like that.
                text = text_of(value)
                self.members.setdefault((node.name, name), f"{node.name}.{name}" if text is None else text)

    def called(self, name: str, caller: ast.AST | None = None) -> Sequence[Function]:
        """Return the functions that a call of ``name`` in the function ``caller`` may mean; empty if too many."""
        found = self.functions.get(name, ())
        if len(found) > _MOST_NAMESAKES and caller is not None:
            module = self._module.get(caller)
            found = [node for node in found if self._module[node] == module]
        return found if len(found) <= _MOST_NAMESAKES else ()


def _first_targets(statements: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """Yield ``(name, value)`` for each statement that assigns a value to a name; the first name if several."""
    for statement in statements:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            target = targets_of(statement)[0]
            if isinstance(target.node, ast.Name) and target.value is not None:
                yield target.node.id, target.value
