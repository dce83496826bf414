"""Keeps a job and the processes that it starts to one core.

The kernel tends to wake a process on the core of the process that woke it. A job is several processes that wake one
another in turn. So two jobs are often on the same core for a while, and the other core is idle: a tenth of the time,
as measured on two cores.

A job's processes join its core only once they are loaded. While a tree is imported it may count the cores, and must
get the same number with any number of jobs; later the case answers that question.
"""

from __future__ import annotations

import contextlib
import os

# The cores that this process could use before it kept to one; empty if it has not been kept to one.
_before: set[int] = set()


def keep_to(core: int) -> None:
    """Keep this process to a core. If the system does not allow that, nothing changes; it is only slower."""
    before = os.sched_getaffinity(0)
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, {core})
        _before.update(before)


def release(pid: int) -> None:
    """Let a process that this one started use all cores that this one could use before `keep_to`."""
    _let(pid, _before)


def join(pid: int) -> None:
    """Keep a process to the core of this one, if this one keeps to a core."""
    if _before:
        _let(pid, os.sched_getaffinity(0))


def _let(pid: int, cores: set[int]) -> None:
    if cores:
        # The process may have ended already.
        with contextlib.suppress(OSError):
            os.sched_setaffinity(pid, cores)


def one_each(jobs: int) -> list[int | None]:
    """Return a core for each of ``jobs`` jobs if there are as many jobs as cores, else None for each.

    With fewer jobs than cores the kernel can move a job to whichever core is idle, which is better than a fixed core.
    """
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return [*cores] if len(cores) == jobs else [None] * jobs
