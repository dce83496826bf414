"""Which core a job keeps to, with all that it runs.

The kernel tends to wake a process on the core of the one that woke it. A job is several processes that wake one
another in turn. So two jobs are often on the same core for a while, and the other core is idle: a tenth of the time,
as measured on two cores. A job's processes join its core only once they are loaded: a tree may count the cores while
it is imported, and must see the same number with any number of jobs. Afterwards the case answers that question.
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
    """Return a core for each of ``jobs`` jobs if there are as many jobs as cores, else None for each.

    With fewer jobs the kernel can move them to whichever core is idle, which is better than a fixed one.
    """
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return [*cores] if len(cores) == jobs else [None] * jobs
