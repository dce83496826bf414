"""Text that a user wrote as TOML: one sentence for whatever keeps it from being read."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from harness.errors import UsageError


def read_toml(path: Path, where: str) -> dict[str, Any]:
    """Return what the file ``path`` holds; ``where`` names it in errors.

    Raises UsageError when it cannot be read, is not TOML, or is nested too deeply.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{where}: {error.strerror or error}") from None
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
