"""The lists of names that a tree writes out once and asks by name, such as the architectures of a family."""

from __future__ import annotations

from collections.abc import Iterator

from codemods.reading.architecture import written_names
from codemods.reading.facts import RecordFacts
from codemods.reading.index import Definition, TreeIndex

_DEEPEST = 5


def constants_of(index: TreeIndex, facts: RecordFacts) -> dict[Definition, tuple[str, ...]]:
    """Return the strings that names of the files of the resolution stand for, through imports within the tree.

    A name counts that its module assigns once, a tuple, list, set or frozenset of strings that is written out.
    """
    files = sorted({place.file for place in (*facts.classes, *facts.passed)})
    return {Definition(path, name): texts for path in files for name, texts in _named(index, path)}


def _named(index: TreeIndex, path: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    module = index.module(path)
    if module is None:
        return
    for name in (*module.assigned, *module.imports):
        texts = _strings(index, path, name, _DEEPEST)
        if texts is not None:
            yield name, texts


def _strings(index: TreeIndex, path: str, name: str, depth: int) -> tuple[str, ...] | None:
    module = index.module(path)
    if module is None or depth == 0:
        return None
    if name in module.assigned:
        return written_names(module.assigned[name])
    dotted, original = module.imports.get(name, ("", None))
    target = index.file_of(dotted) if original is not None else None
    return _strings(index, target, original, depth - 1) if target is not None and original is not None else None
