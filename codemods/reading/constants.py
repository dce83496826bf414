"""The collections of texts that a tree assigns to a name once, such as the architectures of a family."""

from __future__ import annotations

import ast

from codemods.reading.facts import RecordFacts
from codemods.reading.index import Definition, TreeIndex
from harness.source.nodes import texts_in

_DEEPEST = 5


def written_texts(node: ast.AST | None) -> tuple[str, ...] | None:
    """Return the texts of a tuple, list or set that is written out, None for anything else."""
    if not isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return None
    texts = texts_in(node.elts)
    return tuple(texts) if len(texts) == len(node.elts) else None


def constants_of(index: TreeIndex, facts: RecordFacts) -> dict[Definition, tuple[str, ...]]:
    """Return the texts of each collection that a name of the resolution's files is assigned, or imports.

    The collection is a tuple, list, set or frozenset that is written out, and its module assigns the name once.
    """
    modules = [index.read(path) for path in facts.files]
    places = [Definition(module.path, name) for module in modules for name in (*module.assigned, *module.imports)]
    found = ((place, _assigned(index, place, _DEEPEST)) for place in places)
    return {place: texts for place, texts in found if texts}


def _assigned(index: TreeIndex, place: Definition, depth: int) -> tuple[str, ...] | None:
    module = index.read(place.file)
    value = module.assigned.get(place.name)
    if value is None:
        origin = index.located(module.imports.get(place.name))
        return _assigned(index, origin, depth - 1) if origin and depth > 1 else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "frozenset":
        value = value.args[0] if len(value.args) == 1 and not value.keywords else value
    return written_texts(value)
