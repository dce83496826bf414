"""The lists of names that a tree writes out once and asks by name, such as the architectures of a family."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from codemods.architecture import written_names
from codemods.index import Place, TreeIndex
from codemods.record import RecordFacts

_DEEPEST = 5


def constants_of(index: TreeIndex, facts: RecordFacts) -> dict[Place, tuple[str, ...]]:
    """Return the strings that names of the files of the resolution stand for, through imports within the tree.

    A name counts that its module assigns once, a tuple, list, set or frozenset of strings that is written out.
    """
    files = sorted({place.file for place in (*facts.classes, *facts.passed)})
    return {Place(path, name): texts for path in files for name, texts in _named(index, path)}


def _named(index: TreeIndex, path: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    module = index.module(path)
    if module is None:
        return
    for name in (*_own(module.tree), *module.imports):
        texts = _strings(index, path, name, _DEEPEST)
        if texts is not None:
            yield name, texts


def _own(tree: ast.Module) -> dict[str, ast.expr]:
    """Return what names are assigned at the top level, once in the whole file."""
    stores = Counter(
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    )
    found = {}
    for statement in tree.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if len(targets) == 1 and isinstance(targets[0], ast.Name) and stores[targets[0].id] == 1:
                found[targets[0].id] = statement.value
    return found


def _strings(index: TreeIndex, path: str, name: str, depth: int) -> tuple[str, ...] | None:
    module = index.module(path)
    if module is None or depth == 0:
        return None
    own = _own(module.tree)
    if name in own:
        return written_names(own[name])
    dotted, original = module.imports.get(name, ("", None))
    target = index.file_of(dotted) if original is not None else None
    return _strings(index, target, original, depth - 1) if target is not None and original is not None else None
