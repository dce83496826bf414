"""Delays Ctrl-C, and the SIGTERM of a cancelled CI job, until the campaign can be interrupted safely.

It can while it waits for answers or compares, but not while it counts. Python raises KeyboardInterrupt between any
two instructions: without the delay, a chunk could be half counted, or an answer be taken for that of another task.
A signal that arrives at a wrong moment is raised at the next safe one.
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
    """Whether a Ctrl-C is raised at once (``open``), and whether one waits to be raised (``waiting``)."""

    open = False
    waiting = False


_state = _State()


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Delay every Ctrl-C in this block until `let_through`; one that still waits at its end is dropped.

    SIGTERM is delayed too if the program treats it as a Ctrl-C. Does nothing outside the main thread, which gets no
    signals, and leaves a signal alone for which the program has its own handler.
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
    """Let a Ctrl-C raise KeyboardInterrupt in this block, at its beginning if one waits already."""
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
