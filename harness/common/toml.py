"""Reads TOML that a user wrote; every error is one sentence."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from harness.common.errors import UsageError, hint
from harness.common.reading import read_file

LARGEST: Final = 4 << 20
"""The most bytes of a file that a person writes; a larger file must be the wrong one."""

_PARTS: Final = 64
# The parser's time grows with the square of a key's parts.
_LONG_KEY: Final = re.compile(rf"^[ \t\[]*(?:[\w-]+[ \t]*\.[ \t]*){{{_PARTS}}}", re.MULTILINE | re.ASCII)


def read_toml(path: Path, where: str) -> dict[str, Any]:
    """Return the tables of the file ``path``; ``where`` names it in errors.

    Raises UsageError when it cannot be read, is not TOML, or is nested too deeply.
    """
    return parse_toml(read_text(path, where), where)


def read_text(path: Path, where: str) -> str:
    """Return the text of a file that a person wrote; ``where`` names it. Raises UsageError when it cannot be read."""
    try:
        # All line ends become \n, as when Python reads a file as text.
        return read_file(path, LARGEST).decode().replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        near = hint(path.name, _beside(path))
        raise UsageError(f"{where}: {error.strerror or error}{near}: name a file that can be read") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{where} is not valid TOML: {_at(error)}") from None


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Return the tables of ``text``, as `read_toml` does for a file."""
    if long := _LONG_KEY.search(text):
        line = text.count("\n", 0, long.start()) + 1
        raise UsageError(f"{where} is not valid TOML: the key in line {line} has more than {_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UsageError(f"{where} is nested too deeply to be read") from None
    except ValueError as error:  # a TOMLDecodeError, or what `int` raises for a number of thousands of digits
        raise UsageError(f"{where} is not valid TOML: {str(error)[:200]}") from None


def _at(error: UnicodeDecodeError) -> str:
    """Return where the encoding is wrong, without the bytes around it."""
    return f"byte {error.start + 1} is not UTF-8"


def _beside(path: Path) -> list[str]:
    """Return the names of the other TOML files in the folder of ``path``; none if the folder cannot be read."""
    try:
        return [found.name for found in path.parent.glob("*.toml") if found.name != path.name]
    except OSError:
        return []
