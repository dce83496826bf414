"""Defaults of a gate that several commands share, and where this installation is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

DEFAULT_CASES: Final = 20000
"""How many cases a gate runs without ``--cases`` and ``--seconds``."""

IMPORT_FOLDER: Final = str(Path(__file__).parents[2])
"""The folder that holds our packages: processes that import ``harness`` have it on their path."""


def cores() -> int:
    """Return how many cores this process may use, which is the number of jobs without ``--jobs``."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
