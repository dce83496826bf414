"""Resolves the cases of a batch within their time limit, and sends the answers, several at a time."""

from __future__ import annotations

import os
import time
from typing import Any

from ..world import chance, sandbox
from .adapter import Adapter
from .operations import Resolve
from .wire import Wire

# Answers are sent at least this often. The parent counts on it: it waits little longer than for one case.
_FLUSH_SECONDS = 1.0
_LONGEST = 1 << 20
_OUT_OF_MEMORY = b'X["memory"'


def answer_all(adapter: Adapter[Any], request: Resolve, seconds: float, wire: Wire) -> None:
    """Send the answer frame of each case, in order.

    A case that takes longer than ``seconds`` ends the process, and so does one that runs out of memory.
    """
    stream, first, single = request.part
    novelty = None if adapter.reach is None else adapter.reach.novelty
    if novelty is not None:
        novelty.clear()
    if novelty is not None and stream is not None:
        # What a case reaches must not depend on what this process did before. With another number of jobs, other
        # batches come before this one, and the same seed still has to find the same.
        adapter.forget()
        novelty.begin(stream)
    resolve = adapter.resolve
    flushed = time.monotonic()
    for number, case in enumerate(adapter.cases(request), first):
        chance.renew()
        sandbox.start_timer(seconds)
        outcome = resolve(case)
        sandbox.stop_timer()
        if novelty is not None:
            if stream is None:
                novelty.skip(number)
            else:
                novelty.after(number)
        if len(outcome) > _LONGEST:
            outcome = b'X["broken","its outcome is longer than a mebibyte"]'
        wire.send(outcome)
        if single or time.monotonic() - flushed > _FLUSH_SECONDS:
            wire.flush()
            flushed = time.monotonic()
        if outcome.startswith(_OUT_OF_MEMORY):
            # Something may still hold the memory that the case took, so the next case gets a new process.
            wire.flush()
            os._exit(0)
    if novelty is not None and stream is not None:
        novelty.end()


def seconds_of(adapter: Adapter[Any], cases: list[Any]) -> float:
    """Return the seconds it takes to resolve ``cases`` and do nothing else; a benchmark compares with it."""
    resolve = adapter.resolve
    started = time.perf_counter()
    for case in cases:
        resolve(case)
    return time.perf_counter() - started
