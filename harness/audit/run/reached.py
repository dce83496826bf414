"""Finds out which cases of a trial reach a fault; the other cases cannot show it, and are not run.

A fault changes nothing in a case that never runs the block around it. A block is a list of statements that run one
after another: the body of a function, of a branch, of a loop. The conditions of a chain of ``if`` and ``elif`` belong
to the block around the chain. To find out which blocks each case runs, a copy of the package is run once in which
each block first reports its number to `harness.audit.run.hits`.
"""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterator, Mapping
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Final, NamedTuple

from harness.audit.mutants.package import MutablePackage
from harness.audit.reading.mutant import Mutant, line_starts, offset_of
from harness.audit.run import hits
from harness.audit.run.hits import BlocksRan
from harness.audit.run.runner import Runner
from harness.audit.run.trial import mask_bytes
from harness.source.positions import CharacterColumns

_HIT: Final = "_stackproof_hit"


class _BlockSpan(NamedTuple):
    """The offsets of a block in a text, in characters, and its number."""

    start: int
    end: int
    number: int


class Blocks:
    """The blocks of some sources, numbered through all files. The top level of a module is not a block.

    ``texts`` maps the name of each file to its text.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Raises SyntaxError for a text that is not Python."""
        self._texts = texts
        self._spans: dict[str, list[_BlockSpan]] = {}
        self.instrumented: dict[str, str] = {}
        """The sources with a call of `harness.audit.run.hits.hit` at the start of each block."""
        count = 0
        for file, text in texts.items():
            tree = ast.parse(text)
            starts, columns = line_starts(text), CharacterColumns(text)
            spans = self._spans[file] = []
            for body in list(_bodies(tree)):
                first, last = body[0], body[-1]
                # A decorated definition begins with its first decorator.
                begin = min(columns.span(node) for node in (first, *getattr(first, "decorator_list", [])))
                end = columns.span(last)
                spans.append(
                    _BlockSpan(
                        starts[begin.line - 1] + begin.column, starts[end.end_line - 1] + end.end_column, count
                    )
                )
                body.insert(_first_statement(body), ast.Expr(ast.Call(ast.Name(_HIT), [ast.Constant(count)], [])))
                count += 1
            imported = ast.ImportFrom(hits.__name__, [ast.alias("hit", _HIT)], 0)
            tree.body.insert(_first_statement(tree.body), imported)
            self.instrumented[file] = ast.unparse(ast.fix_missing_locations(tree))

    def around(self, mutant: Mutant) -> int | None:
        """Return the number of the innermost block around the whole fault; None at the top level of a module."""
        start = offset_of(self._texts[mutant.file], mutant)
        end = start + len(mutant.before)
        around = [block for block in self._spans[mutant.file] if block.start <= start and end <= block.end]
        # The innermost of the blocks around a fault begins last; if two begin at one place, it ends first.
        return max(around, key=lambda block: (block.start, -block.end)).number if around else None


def _bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Yield the statements of each block of a module."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body and node is not tree and not _is_elif(node, name, body):
                yield body


def _is_elif(node: ast.AST, name: str, body: list[ast.stmt]) -> bool:
    """Return whether a block may be an ``elif``, which Python parses as an ``else`` with one ``if`` in it."""
    return name == "orelse" and isinstance(node, ast.If) and len(body) == 1 and isinstance(body[0], ast.If)


def _first_statement(body: list[ast.stmt]) -> int:
    """Return the index behind the docstring and ``from __future__`` imports, which have to stay first."""
    for number, statement in enumerate(body):
        text = isinstance(statement, ast.Expr) and isinstance(getattr(statement.value, "value", None), str)
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not future and not (number == 0 and text):
            return number
    return len(body)


class CasesByBlock:
    """The cases that run each block of a package without a fault; a set of cases is an int with a bit for each.

    A block that runs at import, or in only one of the two runs of a case, counts as run by every case, since what it
    computes may be kept for later cases. So does code outside of all blocks. A cache that drops entries can hide that
    a case reaches a fault: the audit may then miss a catch, but it never reports a false one.
    """

    def __init__(self, blocks: Blocks, ran: BlocksRan) -> None:
        self._blocks = blocks
        self._always = frozenset(ran.always)
        # Cases that ran the same set of blocks share one mask. It begins as a bytearray, because setting a bit of an
        # int copies the int.
        masks = [bytearray(mask_bytes(len(ran.cases))) for _ in ran.sets]
        for position, number in enumerate(ran.cases):
            masks[number][position >> 3] |= 1 << (position & 7)
        having: dict[int, list[int]] = {}
        for mask, some in zip(masks, ran.sets, strict=True):
            cases = int.from_bytes(mask, "little")
            for block in some:
                having.setdefault(block, []).append(cases)
        self._cases = {block: reduce(or_, found) for block, found in having.items()}

    def cases(self, mutant: Mutant) -> int | None:
        """Return the cases that reach the block around a fault; None if every case may."""
        block = self._blocks.around(mutant)
        return None if block is None or block in self._always else self._cases.get(block, 0)


def reached_by(package: MutablePackage, runner: Runner) -> CasesByBlock | None:
    """Run the package once with blocks that report, and return which cases of the runner's trial run which blocks.

    Returns None if the runner cannot do that, or if a case does not agree with the trial.
    """
    blocks = Blocks(package.texts)
    with tempfile.TemporaryDirectory(prefix="stackproof-") as name:
        folder = Path(name)
        package.write(folder, blocks.instrumented)
        ran = runner.ran(folder)
    return None if ran is None else CasesByBlock(blocks, ran)
