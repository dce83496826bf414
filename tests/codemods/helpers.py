"""Runs codemods on text."""

from __future__ import annotations

from typing import Any

from examples import Example

from codemods.frame.codemod import Codemod, Left
from codemods.frame.driver import StepResult, run
from codemods.reading.files import MemoryTree
from codemods.reading.record import read_facts

ARG = """\
from dataclasses import dataclass
from typing import Annotated as A


@dataclass(frozen=True)
class Arg:
    help: str = ""
    choices: tuple = ()
    no_cli: bool = False
"""


def tree_of(example: Example, text: str) -> MemoryTree:
    """Return the example's files, with ``text`` for its own."""
    files = {"app/arg.py": ARG, **example.others, example.file: text}
    return MemoryTree({name: content.encode() for name, content in files.items()})


def step(codemod: type[Codemod], example: Example, text: str) -> StepResult:
    """Return what the codemod makes of the example's tree."""
    tree = tree_of(example, text)
    made: Any = codemod
    return run(tree, [made(read_facts(tree, example.record), **example.options)])


def changed(codemod: type[Codemod], example: Example, text: str) -> tuple[str, list[Left]]:
    """Return what becomes of the example's own file, and what was left in it."""
    result = step(codemod, example, text)
    assert not result.unreadable
    data = result.changed.get(example.file)
    return text if data is None else data.decode(), [left for left in result.left if left.file == example.file]
