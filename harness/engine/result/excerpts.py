"""The lines of both subjects' sources that a report shows: around what wrote or refused, and what never ran.

They are read once, when the campaign is over, so that a report needs only the result and not the sources.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from harness.world.chain import Place

CONTEXT: Final = 4
"""How many lines are kept on either side of a line that is shown."""

_LONGEST_LINE: Final = 300
_LARGEST_FILE: Final = 16 << 20


class Excerpts(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of one subject's sources: by file and number (from 1), without line breaks."""

    lines: dict[str, dict[int, str]] = {}

    def around(self, file: str, line: int, context: int = CONTEXT) -> list[tuple[int, str]]:
        """Return ``line`` and ``context`` lines on either side, with their numbers, as far as they were read."""
        known = self.lines.get(file, {})
        return [(number, known[number]) for number in range(line - context, line + context + 1) if number in known]

    def line(self, file: str, line: int) -> str:
        """Return one line, the empty string for one that was not read."""
        return self.lines.get(file, {}).get(line, "")


def read_excerpts(root: Path, *, near: Iterable[Place], lines: Iterable[Place]) -> Excerpts:
    """Return the lines around the places ``near`` and those at ``lines``, of the files under ``root``.

    A file that is missing, too large or outside ``root`` is left out. A subject reports the file names itself, and
    must not make a report show other files of the machine.
    """
    read = _Files(root)
    wanted: dict[str, set[int]] = {}
    for place in near:
        wanted.setdefault(place.file, set()).update(range(place.line - CONTEXT, place.line + CONTEXT + 1))
    for place in lines:
        wanted.setdefault(place.file, set()).add(place.line)
    shown = {}
    for file in sorted(wanted):
        text = read.lines(file)
        numbers = [number for number in sorted(wanted[file]) if 0 < number <= len(text)]
        shown[file] = {number: text[number - 1][:_LONGEST_LINE] for number in numbers}
    return Excerpts(lines=shown)


class _Files:
    """The text files under a folder, each read once."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._read: dict[str, list[str]] = {}

    def lines(self, file: str) -> list[str]:
        """Return the lines of a file, none for one that cannot be shown."""
        if file not in self._read:
            self._read[file] = self._lines(file)
        return self._read[file]

    def _lines(self, file: str) -> list[str]:
        try:
            path = (self._root / file).resolve()
            if not path.is_relative_to(self._root) or not path.is_file() or path.stat().st_size > _LARGEST_FILE:
                return []
            # Lines as Python numbers them: a form feed or a line separator does not end one.
            return path.read_bytes().decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")
        except (OSError, ValueError):
            return []
