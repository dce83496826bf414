"""What Python knows by itself of this machine and of this moment: a case has a machine of its own, and no moment.

A question about the machine gets the profile's answer or none, like one to a stand-in. The clock stands still, and
random bytes are those of the case, so that the same case is the same whenever and wherever it is resolved.
``datetime`` has a clock of its own, which is C's and goes on.
"""

import functools
import importlib
import random

from .current import WORLD
from .standins import ANSWERED

_ASKED = {
    "os": ("cpu_count", "getloadavg", "sched_getaffinity", "uname"),
    "platform": ("machine", "node", "platform", "processor", "release", "system", "uname", "version"),
    "socket": ("getfqdn", "gethostname"),
}
# The first second of 2026, in nanoseconds.
_NOW = 1_767_225_600 * 10**9
_SAME = {
    ("os", "getpid"): lambda: 1,
    ("os", "urandom"): lambda size: random.randbytes(size),
    ("time", "time"): lambda: _NOW / 10**9,
    ("time", "time_ns"): lambda: _NOW,
}


def hide():
    """Let a tree find nothing of this machine and this moment while a case is resolved; before, all is as it is."""
    for module, names in _ASKED.items():
        holder = importlib.import_module(module)
        for name in names:
            if hasattr(holder, name):
                setattr(holder, name, _asking(f"{module}.{name}", getattr(holder, name)))
    for (module, name), value in _SAME.items():
        holder = importlib.import_module(module)
        setattr(holder, name, _standing(getattr(holder, name), value))


def _asking(path, original):
    @functools.wraps(original)
    def asked(*args, **kwargs):
        if not WORLD.active:
            return original(*args, **kwargs)
        answer = ANSWERED.get(path)
        return WORLD.refuse(path, "was called") if answer is None else answer()

    return asked


def _standing(original, value):
    @functools.wraps(original)
    def same(*args):
        return value(*args) if WORLD.active else original(*args)

    return same
