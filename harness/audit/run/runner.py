"""The interface of a runner, which runs a mutated package in another process and survives if that process dies."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.audit.run.hits import BlocksRan


class NotLoaded(Exception):
    """The package could not be imported; the text is one sentence."""


@dataclass(frozen=True)
class RunLimits:
    """The limits of a run: seconds for each case, seconds for the import, and memory in MiB."""

    case_seconds: float = 10.0
    load_seconds: float = 20.0
    memory_mib: int = 2048


class Runner(Protocol):
    """Runs packages over the cases of one trial; several threads may use it at once."""

    def answers(self, folder: Path, cases: int | None = None) -> Generator[tuple[int, bytes], None, None]:
        """Run the package in ``folder``; yield number and answer frame of each case that disagrees with the trial.

        ``cases`` has a bit for each case to run; None runs all. Some of the yielded cases may agree nevertheless, so
        the caller has to compare. If a case ends or hangs the process, or needs too much memory, a failure frame is
        yielded for it, as the last. Closing the iterator ends the process. Raises NotLoaded.
        """
        ...

    def ran(self, folder: Path) -> BlocksRan | None:
        """Return which blocks each case runs, for a package whose blocks report to `harness.audit.run.hits`.

        Returns None if a case disagrees with the trial, if the package cannot be imported, or if its process cannot
        collect reports.
        """
        ...

    def close(self) -> None:
        """End all processes that still run. May be called more than once."""
        ...
