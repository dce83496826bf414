"""The loop over the cases of a batch: one answer each, in time, sent in bunches."""

import os
import time

from ..world import chance, sandbox

# The parent waits for a bunch of answers no longer than this and one case's time limit.
_FLUSH_SECONDS = 1.0
_LONGEST = 1 << 20
_OUT_OF_MEMORY = b'X["memory"'


def answer_all(cases, resolve, seconds, wire, part, novelty=None, forget=None):
    """Send the frame that ``resolve`` makes of each case, in order.

    ``part`` says what they are: of which ``stream`` of a campaign (or None), the number of the ``first``, and whether
    each answer is sent at once (``single``). ``novelty`` is told of each case of a stream, and before the first
    ``forget()`` drops what the tree remembers: what a case reaches must not depend on what this process did before.
    A case that takes longer than ``seconds`` ends the process, and so does one that runs out of memory.
    """
    stream, first, single = part
    if novelty is not None:
        novelty.clear()
    if novelty is not None and stream is not None:
        forget()
        novelty.begin(stream)
    flushed = time.monotonic()
    for number, case in enumerate(cases, first):
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
            # What the case took may still be held somewhere: the next one gets a process of its own.
            wire.flush()
            os._exit(0)
    if novelty is not None and stream is not None:
        novelty.end()


def seconds_of(cases, resolve):
    """Return the seconds it takes to resolve ``cases`` and do nothing else (the floor of a benchmark)."""
    started = time.perf_counter()
    for case in cases:
        resolve(case)
    return time.perf_counter() - started
