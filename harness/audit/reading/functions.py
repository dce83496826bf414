"""Which function of a file a line belongs to."""

from __future__ import annotations

import ast
from typing import NamedTuple


class FunctionLines(NamedTuple):
    """First line (a decorator's, if there is one), last line, and the name with those of what it stands in."""

    first: int
    last: int
    name: str


MODULE = FunctionLines(1, 0, "")
"""What runs at import, which is in no function."""


def functions_of(text: str) -> list[FunctionLines]:
    """Return the functions of a Python source, outer ones before what is in them. Raises SyntaxError."""
    found: list[FunctionLines] = []
    waiting: list[tuple[ast.AST, str]] = [(ast.parse(text), "")]
    while waiting:
        node, outer = waiting.pop()
        for child in ast.iter_child_nodes(node):
            name = outer
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{outer}.{child.name}" if outer else child.name
                if not isinstance(child, ast.ClassDef):
                    first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                    found.append(FunctionLines(first, child.end_lineno or child.lineno, name))
            waiting.append((child, name))
    return sorted(found)


def function_at(functions: list[FunctionLines], line: int) -> FunctionLines:
    """Return the innermost of a file's ``functions`` that ``line`` is in, `MODULE` if none is."""
    # Of those around a line, the innermost begins last.
    return max((function for function in functions if function.first <= line <= function.last), default=MODULE)
