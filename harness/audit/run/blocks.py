"""The blocks of a package's sources: which one a fault lies in, and sources whose blocks say that they run.

A fault changes nothing in a case that never comes to the block that it lies in. A block is a list of statements that
run one after the other: the body of a function, of a branch, of a loop. The conditions of a chain of ``if`` and
``elif`` belong to the block that the chain stands in.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from harness.audit.reading.mutant import Mutant, line_starts, offset_of
from harness.audit.run import hits

_HIT: Final = "_stackproof_hit"


class _Block(NamedTuple):
    """The offsets in a text, in characters, between which a block stands, and its number."""

    start: int
    end: int
    number: int


class Blocks:
    """The blocks of some sources (name and text of each), numbered in one count; modules' own are none of them."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Raises SyntaxError for a text that is no Python."""
        self._texts = texts
        self._blocks: dict[str, list[_Block]] = {}
        self.instrumented: dict[str, str] = {}
        """The sources whose blocks call `harness.audit.hits.hit` with their number."""
        count = 0
        for file, text in texts.items():
            tree = ast.parse(text)
            offset = _offsets(text)
            blocks = self._blocks[file] = []
            for body in list(_bodies(tree)):
                first, last = body[0], body[-1]
                end = offset(last.end_lineno or 0, last.end_col_offset or 0)
                blocks.append(_Block(min(offset(*place) for place in _starts(first)), end, count))
                body.insert(int(_is_text(first)), ast.Expr(ast.Call(ast.Name(_HIT), [ast.Constant(count)], [])))
                count += 1
            tree.body.insert(_first_statement(tree), _import())
            self.instrumented[file] = ast.unparse(ast.fix_missing_locations(tree))

    def around(self, mutant: Mutant) -> int | None:
        """Return the number of the innermost block that the whole fault lies in, None where a module's own does."""
        start = offset_of(self._texts[mutant.file], mutant)
        end = start + len(mutant.before)
        around = [block for block in self._blocks[mutant.file] if block.start <= start and end <= block.end]
        # Of those around a place, the innermost begins last; of two that begin at once, it ends first.
        return max(around, key=lambda block: (block.start, -block.end)).number if around else None


def _bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a module but its own."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body and node is not tree and not _is_elif(node, name, body):
                yield body


def _is_elif(node: ast.AST, name: str, body: list[ast.stmt]) -> bool:
    """Return whether what a tree has behind ``else`` may be an ``elif``, which a fault can make a block's own."""
    return name == "orelse" and isinstance(node, ast.If) and len(body) == 1 and isinstance(body[0], ast.If)


def _starts(statement: ast.stmt) -> Iterator[tuple[int, int]]:
    """Yield line and column at which a statement may start: its own, and those of its decorators."""
    for node in (statement, *getattr(statement, "decorator_list", [])):
        yield node.lineno, node.col_offset


def _is_text(statement: ast.stmt) -> bool:
    """Return whether a statement is what would be a docstring, which has to stay the first."""
    return isinstance(statement, ast.Expr) and isinstance(getattr(statement.value, "value", None), str)


def _first_statement(tree: ast.Module) -> int:
    """Return where a module's statements begin behind its docstring and what it imports from the future."""
    for number, statement in enumerate(tree.body):
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not future and not (number == 0 and _is_text(statement)):
            return number
    return len(tree.body)


def _import() -> ast.stmt:
    return ast.ImportFrom(hits.__name__, [ast.alias("hit", _HIT)], 0)


def _offsets(text: str) -> Callable[[int, int], int]:
    """Return a function from a line and a column, which the parser counts in bytes, to an offset in characters."""
    starts = line_starts(text)

    def offset(line: int, column: int) -> int:
        start = starts[line - 1]
        # No character is shorter than a byte.
        return start + len(text[start : start + column].encode()[:column].decode())

    return offset
