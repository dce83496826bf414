"""Defaults of a gate that several commands share."""

from __future__ import annotations

import os
from typing import Final

DEFAULT_CASES: Final = 20000
"""How many cases a gate runs without ``--cases`` and ``--seconds``."""


def cores() -> int:
    """Return how many cores this process may use, which is the number of jobs without ``--jobs``."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
