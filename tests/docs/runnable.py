"""Documentation that runs: a page's files are written, its edits made and its commands run, in the page's order.

A block marked ``console`` holds commands, each after ``$``, and what they print. A block after a comment ``<!-- file:
PATH -->`` is that file's text; a ``diff`` block is applied; a ``python`` block must stand in one of the page's files.
All of it happens in a copy of the page's folder, or of the one that a comment ``<!-- folder: PATH -->`` names.
Run as a script, this writes into a page what its commands print now::

    python tests/docs/runnable.py docs/tutorial/README.md
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"(?:<!-- file: (?P<file>\S+) -->\n)?^```(?P<kind>\w*)\n(?P<body>.*?)^```$", re.M | re.S)
_FOLDER = re.compile(r"^<!-- folder: (\S+) -->$", re.M)


class Ran(NamedTuple):
    """A block of commands as the page has it, and as it came out."""

    written: str
    found: str
    start: int
    end: int


def folder_of(page: Path) -> Path:
    """Return the folder in a copy of which the commands of ``page`` run."""
    named = _FOLDER.search(page.read_text(encoding="utf-8"))
    return page.parent / named[1] if named else page.parent


def run_page(page: str, folder: Path, tools: Path) -> Iterator[Ran]:
    """Do what ``page`` says in ``folder``, and yield its blocks of commands; ``tools`` gets the programs they call.

    Raises AssertionError for an edit that does not apply and for an excerpt that is in no file.
    """
    environment = _environment(tools)
    status = 0
    for block in _BLOCK.finditer(page):
        kind, body, file = block["kind"], block["body"], block["file"]
        if file is not None:
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")
        elif kind == "diff":
            edit = subprocess.run(
                ["git", "apply", "--unidiff-zero", "-"], cwd=folder, input=body, text=True, capture_output=True
            )
            assert edit.returncode == 0, f"{edit.stderr} in\n{body}"
        elif kind == "python":
            texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.py")]
            assert any(body.strip() in text for text in texts), f"no file of the page has\n{body}"
        elif kind == "console":
            found = ""
            for command in _commands(body):
                printed, status = _printed(command, status, folder, environment)
                found += f"$ {command}\n{printed}"
            yield Ran(body, found, *block.span("body"))


def _commands(body: str) -> list[str]:
    """Return the commands of a block, lines that a backslash continues included."""
    return [match[1] for match in re.finditer(r"^\$ ((?:.*\\\n)*.*)\n", body, re.M)]


def _printed(command: str, status: int, folder: Path, environment: dict[str, str]) -> tuple[str, int]:
    """Return what ``command`` prints and its status; ``status`` is that of the command before, its ``$?``."""
    run = subprocess.run(
        ["bash", "-c", f"(exit {status})\n{command}"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    lines = [line.rstrip() for line in run.stdout.splitlines()]
    # What depends on the clock is not compared.
    return "".join(f"{re.sub(r' in [0-9.]+s$', ' in 1.00s', line)}\n" for line in lines), run.returncode


def _environment(tools: Path) -> dict[str, str]:
    """Return the environment of the commands: this project's own programs first, nothing of the reader's."""
    tools.mkdir(parents=True, exist_ok=True)
    _program(tools / "stackproof", f"from harness.cli import app, main\n{_codemods()}\nmain()")
    _program(
        tools / "pytest",
        f"import pytest\nsys.exit(pytest.main([*{_plugin_words()!r}, '-p', 'no:cacheprovider', *sys.argv[1:]]))",
    )
    return {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tools),
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **{name: os.environ[name] for name in ("STACKPROOF_CACHE",) if name in os.environ},
    }


def _codemods() -> str:
    """Return a line that brings the codemods' commands where the project is run from its folder and not installed."""
    installed = importlib.metadata.entry_points(group="stackproof.commands", name="codemods")
    return "" if installed else "import codemods.commands; codemods.commands.register(app)"


def _plugin_words() -> list[str]:
    """Return the words that bring our plugin where the project is run from its folder and not installed."""
    installed = importlib.metadata.entry_points(group="pytest11", name="stackproof")
    return [] if installed else ["-p", "harness.pytest_plugin"]


def _program(path: Path, text: str) -> None:
    path.write_text(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def main() -> None:
    """Write into the pages that are named what their commands print."""
    for name in sys.argv[1:]:
        page = Path(name)
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place, "page")
            shutil.copytree(folder_of(page), folder)
            ran = list(run_page(text, folder, Path(place, "tools")))
        for block in reversed(ran):
            text = text[: block.start] + block.found + text[block.end :]
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
