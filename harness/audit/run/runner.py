"""The interface of a runner, which runs a mutated package in another process and survives what that process does."""

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
    """What a run may use: seconds for one case and for the import, memory in MiB."""

    case_seconds: float = 10.0
    load_seconds: float = 20.0
    memory_mib: int = 2048


class Runner(Protocol):
    """Runs packages over the cases of one trial; may be asked from several threads at once."""

    def answers(self, folder: Path, cases: int | None = None) -> Generator[tuple[int, bytes], None, None]:
        """Run the package in ``folder``; yield number and answer frame of each case that disagrees with the trial.

        ``cases`` has a bit for each case to run; None runs all. A few frames of cases that agree may be among them:
        the caller compares. A case that ends or hangs the process, or takes too much memory, gets a failure frame and
        is the last. Closing the iterator ends the process. Raises NotLoaded.
        """
        ...

    def ran(self, folder: Path) -> BlocksRan | None:
        """Return which blocks each case runs, for a package whose blocks report to `harness.audit.run.hits`.

        None if a case disagrees with the trial, the package cannot be imported, or its process cannot collect
        reports.
        """
        ...

    def close(self) -> None:
        """End all processes that still run; may be called again."""
        ...
