"""Runs the formatter that a tree has configured, if any, over what a step changed.

A file that was not in the formatter's style before the step is not formatted after it either, so that the step
changes no line that it does not have to. In such a file, what the codemods write keeps to the surrounding style.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from codemods.reading.files import SourceTree
from harness.common.errors import UsageError
from harness.common.toml import read_toml

_SECONDS: Final = 120
_COMMANDS: Final = {
    "ruff": ("ruff", "format", "--quiet", "--no-cache", "--stdin-filename"),
    "black": ("black", "--quiet", "--stdin-filename"),
}


class Formatted(NamedTuple):
    """The changed files as they are to be written, and sentences about what the formatter did."""

    changed: Mapping[str, bytes]
    notes: tuple[str, ...] = ()


def formatted(tree: SourceTree, root: Path, top: Path, changed: Mapping[str, bytes]) -> Formatted:
    """Return ``changed``, formatted as the configuration in ``root`` or a folder above, up to ``top``, says."""
    name = _configured(root, top)
    paths = [path for path in changed if path.endswith(".py")]
    if name is None or not paths:
        return Formatted(changed)
    program = shutil.which(_COMMANDS[name][0])
    if program is None:
        return Formatted(changed, (f"{name} is configured and not installed: the changes are not formatted",))
    command = [program, *_COMMANDS[name][1:]]
    known, result, kept = set(tree.names()), dict(changed), 0
    for path in paths:
        if path in known and _run(command, root / path, tree.read(path)) != tree.read(path):
            kept += 1
            continue
        made = _run(command, root / path, changed[path])
        if made is None:
            kept += 1
        else:
            result[path] = made
    note = f"{name} formatted {len(paths) - kept} of {len(paths)} changed files"
    return Formatted(result, (f"{note}; {kept} were not in its style before" if kept else note,))


def _run(command: Sequence[str], path: Path, data: bytes) -> bytes | None:
    """Return ``data`` as the formatter writes it, None if the formatter fails."""
    try:
        done = subprocess.run(
            [*command, str(path), "-"], input=data, capture_output=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _configured(root: Path, top: Path) -> str | None:
    """Return the formatter that is configured nearest to ``root``, in a folder up to ``top``; None without any."""
    for folder in (root, *root.parents):
        if not folder.is_relative_to(top):
            return None
        if any((folder / name).is_file() for name in ("ruff.toml", ".ruff.toml")):
            return "ruff"
        try:
            tools = read_toml(folder / "pyproject.toml", "pyproject.toml").get("tool", {})
        except UsageError:
            continue
        if not isinstance(tools, dict):
            continue
        if "black" in tools:
            return "black"
        if isinstance(ruff := tools.get("ruff"), dict) and "format" in ruff:
            return "ruff"
    return None
