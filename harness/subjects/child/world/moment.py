"""Hides this machine and the time from a case, so that the same case always resolves in the same way.

A question to the standard library about the machine gets the answer of the case's profile, like a question to a
stand-in; without an answer it is refused. The clock shows the same second in every case, and random bytes come from
the case's random numbers. ``datetime.now`` is not covered: it reads the clock in C, and cannot be replaced.
"""

from __future__ import annotations

import functools
import importlib
import random
from collections.abc import Callable
from typing import Any

from .current import WORLD
from .standins import ANSWERED

_ASKED = {
    "os": ("cpu_count", "getloadavg", "sched_getaffinity", "uname"),
    "platform": ("machine", "node", "platform", "processor", "release", "system", "uname", "version"),
    "socket": ("getfqdn", "gethostname"),
}
# The first second of 2026, in nanoseconds.
_NOW = 1_767_225_600 * 10**9
_SAME: dict[tuple[str, str], Callable[..., Any]] = {
    ("os", "getpid"): lambda: 1,
    ("os", "urandom"): lambda size: random.randbytes(size),
    ("time", "time"): lambda: _NOW / 10**9,
    ("time", "time_ns"): lambda: _NOW,
}


def hide() -> None:
    """Replace the functions that tell about the machine and the time; outside a case they work as usual."""
    for module, names in _ASKED.items():
        holder = importlib.import_module(module)
        for name in names:
            if hasattr(holder, name):
                setattr(holder, name, _asking(f"{module}.{name}", getattr(holder, name)))
    for (module, name), value in _SAME.items():
        holder = importlib.import_module(module)
        setattr(holder, name, _constant(getattr(holder, name), value))


def _asking(path: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def asked(*args: Any, **kwargs: Any) -> Any:
        if not WORLD.active:
            return original(*args, **kwargs)
        answer = ANSWERED.get(path)
        return WORLD.refuse(path, "was called") if answer is None else answer()

    return asked


def _constant(original: Callable[..., Any], value: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def same(*args: Any) -> Any:
        return value(*args) if WORLD.active else original(*args)

    return same
