"""Keeps the progress of a stack in a readable file beside the work tree, which is written whole or not at all."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from codemods.stack.gate import GateVerdict
from harness.common.errors import UsageError
from harness.common.reading import parse_json, read_file
from harness.common.writing import write_atomically

FORMAT: Final = "stackproof.stack-state/1"
STATE: Final = "state.json"
PLAN: Final = "stack.toml"
TREE: Final = "tree"
FAILED: Final = "failed"
INTERRUPTED: Final = "interrupted"
LEDGERS: Final = "ledgers"
CORPUS: Final = "corpus"
"""The names from STATE on are those in the folder of a stack. CORPUS holds cases to run first, a folder a mode."""

_STATEMENT: Final = 80

StepStatus = Literal["pending", "applying", "gating", "done", "unchanged", "stopped"]


class LeftThere(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a step left as it was, and why."""

    file: str
    line: int
    what: str
    reason: str

    @property
    def words(self) -> str:
        """What was left and why, on one line."""
        return f"{self.file}:{self.line} {self.statement}: {self.reason}"

    @property
    def statement(self) -> str:
        """The text of what was left, on one line, cut off if it is long."""
        return " ".join(self.what.split())[:_STATEMENT]


class StepState(msgspec.Struct, kw_only=True):
    """How far one step is.

    ``before`` and ``after`` count the imperative writes of its fields before and after it. ``recorded`` and
    ``lifted`` count the writes that are now declared in place and in passes. ``reason`` says why an attempt failed,
    and ``kept`` is the folder where it is kept, relative to the stack's folder.
    """

    name: str
    fields: tuple[str, ...]
    status: StepStatus = "pending"
    branch: str = ""
    commit: str = ""
    before: int = 0
    after: int = 0
    recorded: int = 0
    lifted: int = 0
    left: tuple[LeftThere, ...] = ()
    notes: tuple[str, ...] = ()
    verdicts: tuple[GateVerdict, ...] = ()
    reason: str = ""
    kept: str = ""

    @property
    def is_over(self) -> bool:
        """Whether the step is done, or had nothing to change."""
        return self.status in ("done", "unchanged")


class WriteTotals(msgspec.Struct, frozen=True, kw_only=True):
    """How the plan's fields are written in the end; ``reasons`` counts the writes that are in no pass, by reason."""

    before: int
    after: int
    recorded: int
    lifted: int
    reasons: dict[str, int] = {}


class StackState(msgspec.Struct, kw_only=True):
    """How far a stack is.

    ``target`` is the tree that the user named. ``original`` is the subject that the steps are gated against, without
    a suffix. ``repository`` is the user's repository that the work tree belongs to; it is empty if the tree is a
    copy. ``inside`` is the path in the work tree of the folder that holds the package. ``base`` is the commit that
    the first step starts from; it is empty until the work tree is there. ``totals``, and the verdicts ``also``
    against further subjects, are added when all steps are done.
    """

    format: str = FORMAT
    target: str
    original: str
    repository: str
    inside: str = ""
    base: str = ""
    steps: Annotated[list[StepState], msgspec.Meta(min_length=1)]
    totals: WriteTotals | None = None
    also: tuple[GateVerdict, ...] = ()

    @property
    def own(self) -> bool:
        """Whether the runner made the repository."""
        return not self.repository


def load_state(folder: Path) -> StackState:
    """Return the state of the stack in ``folder``; raises UsageError when there is none that can be read."""
    path = folder / STATE
    try:
        state = parse_json(read_file(path), StackState)
    except FileNotFoundError:
        raise UsageError(f"{folder} holds no stack: name the folder that was given to 'stack run' as --out") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except msgspec.DecodeError as error:
        raise UsageError(f"{path} is not the whole state of a stack: {error}") from None
    if state.format != FORMAT:
        raise UsageError(f"{path} is of the format {state.format!r}, and this stackproof reads {FORMAT!r}")
    return state


def save_state(folder: Path, state: StackState) -> None:
    """Write the state; raises UsageError when the disk refuses."""
    write_atomically(folder / STATE, msgspec.json.format(msgspec.json.encode(state), indent=2) + b"\n")


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Lock the stack in ``folder`` for this process; raises UsageError when another process works on it."""
    with (folder / ".lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"another process works on the stack in {folder}: wait for it, or end it") from None
        yield
