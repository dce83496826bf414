"""Applies the codemods of a step to a tree. Each file is parsed once for all of them, in one of several processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from codemods.frame.codemod import Codemod, Left
from codemods.reading.files import FolderTree, SourceTree, write
from codemods.reading.source import SourceFile, Unreadable, mentions


@dataclass
class StepResult:
    """The result of the codemods of one step for a tree."""

    changed: dict[str, bytes] = field(default_factory=dict)
    """The new bytes of each changed or added file, by path."""
    counts: dict[str, int] = field(default_factory=dict)
    """The number of changes that each codemod made, by its name."""
    left: list[Left] = field(default_factory=list)
    """The code that was found but not changed."""
    unreadable: dict[str, str] = field(default_factory=dict)
    """Why a file that holds a word of a codemod cannot be changed, by path."""

    def add(self, later: StepResult) -> None:
        """Add the result of further codemods, which got the tree with the changes of this result."""
        self.changed |= later.changed
        self.left += later.left
        self.unreadable |= later.unreadable
        for name, count in later.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count


class _FileResult(NamedTuple):
    path: str
    data: bytes | None
    counts: tuple[int, ...]
    left: tuple[Left, ...]
    unreadable: str


def run(tree: SourceTree, codemods: Sequence[Codemod], *, jobs: int = 1) -> StepResult:
    """Return the result of applying ``codemods``, one after another, to ``tree``; nothing is written.

    The result does not depend on ``jobs``.
    """
    words = tuple(sorted({word for codemod in codemods for word in codemod.words()}))
    work = [(name, data) for name in tree.names() if mentions(data := tree.read(name), words)]
    # The largest files come first: one that came last would keep one process busy while the others are done.
    order = sorted(range(len(work)), key=lambda number: -len(work[number][1]))
    if jobs > 1 and len(work) > 8:
        context = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(
            min(jobs, len(work)), mp_context=context, initializer=_start, initargs=(codemods,)
        ) as pool:
            done = dict(
                zip(order, pool.map(_change_here, [work[number] for number in order], chunksize=1), strict=True)
            )
    else:
        done = {number: _change(work[number], codemods) for number in order}
    return _gathered([done[number] for number in range(len(work))], tree, codemods)


def run_in(root: Path | str, codemods: Sequence[Codemod], *, jobs: int = 1) -> StepResult:
    """Apply ``codemods`` to the folder ``root``, a copy that the caller made for it, and write the changes there.

    Raises UsageError if ``root`` is not a folder.
    """
    tree = FolderTree(root)
    result = run(tree, codemods, jobs=jobs)
    write(tree.root, result.changed)
    return result


_mine: Sequence[Codemod] = ()
"""The codemods that a process of the pool applies: it gets them once, not with each file."""


def _start(codemods: Sequence[Codemod]) -> None:
    global _mine
    _mine = codemods


def _change_here(work: tuple[str, bytes]) -> _FileResult:
    return _change(work, _mine)


def _change(work: tuple[str, bytes], codemods: Sequence[Codemod]) -> _FileResult:
    path, data = work
    counts = [0] * len(codemods)
    left: list[Left] = []
    try:
        source = SourceFile(path, data)
        for number, codemod in enumerate(codemods):
            if not mentions(source.data, codemod.words()) or not codemod.concerns(source):
                continue
            change = codemod.apply(source.module, source)
            counts[number] = change.count
            left += change.left
            if change.module is not source.module:
                source = SourceFile.of(path, change.module)
        return _FileResult(path, source.data if source.data != data else None, tuple(counts), tuple(left), "")
    except Unreadable as error:
        return _FileResult(path, None, (0,) * len(codemods), (), str(error))


def _gathered(results: Sequence[_FileResult], tree: SourceTree, codemods: Sequence[Codemod]) -> StepResult:
    total = StepResult(counts={_name(codemod): 0 for codemod in codemods})
    for result in results:
        if result.data is not None:
            total.changed[result.path] = result.data
        if result.unreadable:
            total.unreadable[result.path] = result.unreadable
        total.left += result.left
        for codemod, count in zip(codemods, result.counts, strict=True):
            total.counts[_name(codemod)] += count
    known = set(tree.names())
    for codemod in codemods:
        for path, text in codemod.files().items():
            data = text.encode()
            if total.changed.get(path, tree.read(path) if path in known else b"") != data:
                total.changed[path] = data
                total.counts[_name(codemod)] += 1
    return total


def _name(codemod: Codemod) -> str:
    return type(codemod).__module__.rpartition(".")[2]
