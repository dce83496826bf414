"""Ctrl-C, or the signal of a job that is cancelled, where a campaign can bear it.

That is while it waits or compares, not while it counts or puts things in order. One that comes in between is raised
at the next place that can bear it. So whatever a user presses, and however often, what was counted is whole, and no
answer is taken for that of another task.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class _State:
    """Whether a Ctrl-C is raised at once, and whether one waits."""

    open = False
    waiting = False


_state = _State()


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Hold Ctrl-C back but in `let_through`; one that still waits at the end came too late to stop anything.

    The same goes for a SIGTERM that the program takes for one. Does nothing in a thread that gets no signals, and to
    a signal for which the program has a handler of its own.
    """
    is_main = threading.current_thread() is threading.main_thread()
    numbers = [one for one in _SIGNALS if is_main and signal.getsignal(one) is signal.default_int_handler]
    for number in numbers:
        signal.signal(number, _take)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.default_int_handler)
        _state.waiting = False


@contextlib.contextmanager
def let_through() -> Iterator[None]:
    """Raise KeyboardInterrupt as soon as there is a Ctrl-C, which may have come before."""
    _state.open = True
    try:
        if _state.waiting:
            _state.waiting = False
            raise KeyboardInterrupt
        yield
    finally:
        _state.open = False


def _take(number: int, frame: FrameType | None) -> None:
    if _state.open:
        raise KeyboardInterrupt
    _state.waiting = True
