"""A mutant: one small fault in one file, as data from which the mutated source can be made."""

from __future__ import annotations

import difflib
import re
import warnings
from typing import Final, Literal, get_args

import msgspec

from harness.common.errors import UsageError, hint

Role = Literal["value", "guard", "write", "order", "table", "other"]
"""What a fault touches.

``value``: a value that is written; ``guard``: a condition; ``write``: whether something is written or called at all;
``order``: the order in which things run; ``table``: a declared table; ``other``: anything else.
"""

ROLES: Final[tuple[Role, ...]] = get_args(Role)


def checked_roles(text: str) -> list[Role]:
    """Return the roles in a text such as "value,guard". Raises UsageError for a word that is no role."""
    found = []
    for word in text.split(","):
        role = next((role for role in ROLES if role == word.strip()), None)
        if role is None:
            raise UsageError(f"--roles: there is no role {word!r}{hint(word, ROLES)}, roles are {', '.join(ROLES)}")
        found.append(role)
    return found


_LINE_END: Final = re.compile(r"\r\n|\r|\n")


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """A fault: in ``file`` (relative to the package's parent folder), the text ``before`` becomes ``after``.

    ``before`` starts at ``line`` and ``column``; both count from 1, the column in characters.
    """

    file: str
    line: int
    column: int
    operator: str
    role: Role
    before: str
    after: str

    def identity(self) -> str:
        """Return a line that describes the mutant; no two mutants of the same sources have the same line."""
        return f"{self.file}:{self.line}:{self.column} {self.operator}: {self.before!r} -> {self.after!r}"


def line_starts(text: str) -> list[int]:
    """Return the offset at which each line of ``text`` starts."""
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


def offset_of(text: str, mutant: Mutant) -> int:
    """Return the offset at which the mutant's fault starts; the end of ``text`` if it has no such line."""
    starts = line_starts(text)
    return starts[mutant.line - 1] + mutant.column - 1 if mutant.line <= len(starts) else len(text)


def mutated(text: str, mutant: Mutant) -> str:
    """Return the source ``text`` of the mutant's file with its fault in it.

    Raises UsageError when the text is not the one that the mutant was made from.
    """
    start = offset_of(text, mutant)
    end = start + len(mutant.before)
    if text[start:end] != mutant.before:
        raise UsageError(
            f"{mutant.file}:{mutant.line} is not what it was when its mutant was made: make the mutants anew"
        )
    return text[:start] + mutant.after + text[end:]


def compiles(text: str) -> bool:
    """Return whether ``text`` is a Python module."""
    with warnings.catch_warnings():
        # Python warns about ``is`` with a literal, which a fault may well produce.
        warnings.simplefilter("ignore")
        try:
            compile(text, "<mutant>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
    return True


def diff(text: str, mutant: Mutant) -> str:
    """Return the mutant as a unified diff of its file's source ``text``. Raises UsageError as `mutated` does."""
    before, after = text.splitlines(keepends=True), mutated(text, mutant).splitlines(keepends=True)
    lines = difflib.unified_diff(before, after, f"a/{mutant.file}", f"b/{mutant.file}")
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)
