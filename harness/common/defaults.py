"""What a gate does where nothing was asked for."""

from __future__ import annotations

import os
from typing import Final

DEFAULT_CASES: Final = 20000
"""Cases of a gate for which neither a number nor a time was asked for."""


def cores() -> int:
    """Return how many cores this process may use: the number of jobs of a gate for which none was asked."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
