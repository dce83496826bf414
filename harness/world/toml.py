"""Text that a user wrote as TOML: one sentence for whatever keeps it from being read."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from harness.errors import UsageError, hint


def read_toml(path: Path, where: str) -> dict[str, Any]:
    """Return what the file ``path`` holds; ``where`` names it in errors.

    Raises UsageError when it cannot be read, is not TOML, or is nested too deeply.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        near = hint(path.name, _beside(path))
        raise UsageError(f"{where}: {error.strerror or error}{near}: name a file that can be read") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{where} is not valid TOML: {error}") from None
    return parse_toml(text, where)


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Return what ``text`` holds, as `read_toml` does of a file."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{where} is not valid TOML: {error}") from None
    except RecursionError:
        raise UsageError(f"{where} is nested too deeply to be read") from None


def _beside(path: Path) -> list[str]:
    """Return the names of the TOML files in the folder of ``path``; none where that cannot be read."""
    try:
        return [found.name for found in path.parent.glob("*.toml") if found.name != path.name]
    except OSError:
        return []
