"""Small stacks: a made-up tree of the idiom, a plan for it, and runs of both."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from made_up_trees import make_tree

from codemods.stack.create import create, find_target, plan_for
from codemods.stack.events import StackEvent
from codemods.stack.run import StackOutcome, run_stack
from codemods.stack.state import StackState, load_state
from harness.engine.options import GateOptions

RECORD = "sglang.srt.server_args:ServerArgs"
PLAN = """\
format = "stackproof.stack/1"
record = "sglang.srt.server_args:ServerArgs"
codemods = ["add_runtime", "tag_field", "record_writes", "lift_writes"]

[gate]
cases = 150
modes = ["slice"]

[[step]]
name = "sampling"
fields = ["sampling_backend"]
reference = "https://example.org/pull/1"

[[step]]
name = "pages"
fields = ["page_size"]
"""
OPTIONS = GateOptions(jobs=1)


def ignore(event: StackEvent) -> None:
    """Listen to nothing."""


def made_tree(root: Path, sampling: str | None = None) -> Path:
    """Make the tree in the new folder ``root``; both its fields are written where each case may come."""
    root.mkdir()
    if sampling is None:
        make_tree(root)
    else:
        make_tree(root, sampling=sampling)
    return root


def made_plan(path: Path, text: str = PLAN) -> Path:
    """Write a plan."""
    path.write_text(text)
    return path


def made_stack(folder: Path, target: str, plan: Path) -> Path:
    """Make the stack of ``target`` in ``folder``; nothing runs yet."""
    found = find_target(target, folder.parent)
    create(folder, found, plan_for(found, plan).plan, "stack")
    return folder


def run(folder: Path, listener: Callable[[StackEvent], None] = ignore) -> tuple[StackOutcome, StackState]:
    """Do what is left of the stack in ``folder``."""
    outcome = run_stack(folder, OPTIONS, listener)
    return outcome, load_state(folder)


def contents(root: Path) -> dict[str, bytes]:
    """Return the files under ``root``, without git's own and what Python made of them."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not {".git", "__pycache__"} & set(path.relative_to(root).parts)
    }


def git(cwd: Path, *words: str) -> str:
    """Run git there, with nobody's configuration, and return what it prints."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    run = subprocess.run(["git", *words], cwd=cwd, env=environment, capture_output=True, text=True, check=True)
    return run.stdout.strip()


def made_repository(root: Path) -> Path:
    """Commit the tree ``root`` to a repository there; its user's name is configured in it."""
    git(root, "init", "-q", "-b", "main", ".")
    git(root, "config", "user.name", "A User")
    git(root, "config", "user.email", "user@example.org")
    git(root, "add", "--all")
    git(root, "commit", "-q", "-m", "The tree")
    return root
