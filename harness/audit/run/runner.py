"""Who runs a mutated package: whatever does it in a process of its own, and survives what that process does."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.audit.run.hits import Ran


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
        """Yield the number and the answer frame of each case that does not agree with the trial, in order.

        ``cases`` are those to run, a bit each; all where it is None. What a frame says decides: one of a case that
        agrees may be among them. The package stands in ``folder``. A case that ends, hangs or overfills the process
        gets a failure frame, and is the last. Closing the iterator ends the process. Raises NotLoaded.
        """
        ...

    def ran(self, folder: Path) -> Ran | None:
        """Return which blocks of the package ran, all of whose blocks say that they do.

        None where that is not to be had: a case does not agree with the trial, the package cannot be imported, or it
        is not run where blocks can say so.
        """
        ...

    def close(self) -> None:
        """End whatever still runs; safe to call again."""
        ...
