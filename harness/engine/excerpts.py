"""The lines of both subjects' sources that a report shows: around what wrote or refused, and what never ran.

They are read once, when the campaign is over, so that a report is made of the result alone.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from harness.world.case import Refusal

CONTEXT: Final = 4
"""How many lines are kept on either side of a line that is shown."""

_LONGEST_LINE: Final = 300
_LARGEST_FILE: Final = 16 << 20
_DEFINITION: Final = re.compile(r"\s*(?:async\s+)?def\s+(\w+)\s*\(")


class Place(msgspec.Struct, frozen=True):
    """A line of a file, counted from 1; the file is relative to the folder that holds the package."""

    file: str
    line: int


class Excerpts(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of one subject's sources: by file and number (from 1), without line breaks.

    ``functions`` tells for the name of each function that refused a witness where it starts, and ``checks`` for each
    refusal (`check_key`) the statement in it that raised, where these are known.
    """

    lines: dict[str, dict[int, str]] = {}
    functions: dict[str, Place] = {}
    checks: dict[str, Place] = {}

    def around(self, file: str, line: int, context: int = CONTEXT) -> list[tuple[int, str]]:
        """Return the lines near one, with their numbers; none for a place that was not read."""
        known = self.lines.get(file, {})
        return [(number, known[number]) for number in range(line - context, line + context + 1) if number in known]

    def line(self, file: str, line: int) -> str:
        """Return one line, the empty string for one that was not read."""
        return self.lines.get(file, {}).get(line, "")


def read_excerpts(
    root: Path, *, near: Iterable[Place], lines: Iterable[Place], refusals: Collection[Refusal], files: Iterable[str]
) -> Excerpts:
    """Return the lines around the places ``near`` and those at ``lines``, of the files under ``root``.

    The functions that raised ``refusals`` are looked for in ``files``: the first place where one is defined counts as
    near, too, and so does the statement in it whose words are those of the refusal. A file that is not there, is too
    large or lies outside ``root`` is left out: the subject's own word for where something is does not decide what is
    read.
    """
    read = _Files(root)
    found = _functions(read, files, {refusal.origin for refusal in refusals})
    checks = _checks(read, found, refusals)
    wanted: dict[str, set[int]] = {}
    for place in (*near, *found.values(), *checks.values()):
        wanted.setdefault(place.file, set()).update(range(place.line - CONTEXT, place.line + CONTEXT + 1))
    for place in lines:
        wanted.setdefault(place.file, set()).add(place.line)
    shown = {}
    for file in sorted(wanted):
        text = read.lines(file)
        numbers = [number for number in sorted(wanted[file]) if 0 < number <= len(text)]
        shown[file] = {number: text[number - 1][:_LONGEST_LINE] for number in numbers}
    return Excerpts(lines=shown, functions=found, checks=checks)


def _functions(read: _Files, files: Iterable[str], names: Collection[str]) -> dict[str, Place]:
    found: dict[str, Place] = {}
    for file in files if names else ():
        for number, line in enumerate(read.lines(file), start=1):
            match = _DEFINITION.match(line)
            if match is not None and match[1] in names:
                found.setdefault(match[1], Place(file, number))
    return {name: found[name] for name in sorted(found)}


def check_key(refusal: Refusal) -> str:
    """Return what `Excerpts.checks` knows a refusal by."""
    return f"{refusal.origin}: {refusal.message}"


def _checks(read: _Files, functions: Mapping[str, Place], refusals: Collection[Refusal]) -> dict[str, Place]:
    found = {}
    for refusal in refusals:
        start = functions.get(refusal.origin)
        line = None if start is None else _check_in(read.statements(start), refusal.message)
        if start is not None and line is not None:
            found[check_key(refusal)] = Place(start.file, line)
    return dict(sorted(found.items()))


def _check_in(statements: Sequence[ast.Raise | ast.Assert], message: str) -> int | None:
    """Return the line of the statement that most of ``message`` stands in, or of the only one there is."""
    if len(statements) == 1:
        return statements[0].lineno
    said = [_said(statement, message) for statement in statements]
    best = max(said, default=0)
    return statements[said.index(best)].lineno if best else None


def _said(statement: ast.Raise | ast.Assert, message: str) -> int:
    """Return how many characters of the statement's own words stand in ``message``."""
    words = statement.msg if isinstance(statement, ast.Assert) else statement.exc
    parts = ast.walk(words) if words is not None else ()
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return sum(len(text) for text in texts if text in message)


class _Files:
    """The text files under a folder, each read once."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._read: dict[str, list[str]] = {}
        self._parsed: dict[str, ast.Module] = {}

    def lines(self, file: str) -> list[str]:
        """Return the lines of a file, none for one that cannot be shown."""
        if file not in self._read:
            self._read[file] = self._lines(file)
        return self._read[file]

    def statements(self, start: Place) -> list[ast.Raise | ast.Assert]:
        """Return the statements that raise in the function that starts at a place, in order."""
        if start.file not in self._parsed:
            self._parsed[start.file] = self._parse(start.file)
        for node in ast.walk(self._parsed[start.file]):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno == start.line:
                found = [part for part in ast.walk(node) if isinstance(part, (ast.Raise, ast.Assert))]
                return sorted(found, key=lambda part: part.lineno)
        return []

    def _parse(self, file: str) -> ast.Module:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of somebody else's source
                return ast.parse("\n".join(self.lines(file)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.Module([], [])

    def _lines(self, file: str) -> list[str]:
        try:
            path = (self._root / file).resolve()
            if not path.is_relative_to(self._root) or not path.is_file() or path.stat().st_size > _LARGEST_FILE:
                return []
            # Lines as Python numbers them: a form feed or a line separator does not end one.
            return path.read_bytes().decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")
        except (OSError, ValueError):
            return []
