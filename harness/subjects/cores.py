"""Which core a job keeps to, with all that it runs.

The kernel tends to wake a process beside the one that woke it. Of two jobs, each of several processes that wake one
another in turn, both are then on one core for a while, and the other is idle (a tenth of the time, as measured on
two). What a job runs joins it only once it is loaded: a tree that counts the cores while it is imported sees as many
with any number of jobs, and afterwards the question is one about the machine, which the case answers.
"""

from __future__ import annotations

import contextlib
import os

# The cores of this process before it kept to one; empty while it keeps to none.
_before: set[int] = set()


def keep_to(core: int) -> None:
    """Keep this process to a core; where the system does not let it, everything is only slower."""
    before = os.sched_getaffinity(0)
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, {core})
        _before.update(before)


def release(pid: int) -> None:
    """Let a process that this one started use all cores that this one could before it kept to one."""
    _let(pid, _before)


def join(pid: int) -> None:
    """Let a process that this one released use only what this one does."""
    if _before:
        _let(pid, os.sched_getaffinity(0))


def _let(pid: int, cores: set[int]) -> None:
    if cores:
        # It may have ended already.
        with contextlib.suppress(OSError):
            os.sched_setaffinity(pid, cores)


def one_each(jobs: int) -> list[int | None]:
    """Return a core for each of so many jobs where there are as many as cores, else None for each.

    With fewer the kernel has a choice, and what else runs on the machine counts.
    """
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return [*cores] if len(cores) == jobs else [None] * jobs
