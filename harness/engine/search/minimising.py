"""Minimising: each bucket's witness is shrunk and explained by one of the workers."""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.difference.buckets import Bucket
from harness.engine.search.crew import Workers
from harness.engine.search.plan import Answer, Shrink, Shrunk


def minimised(workers: Workers, buckets: Sequence[Bucket]) -> tuple[list[Shrunk], bool]:
    """Return the minimised buckets in their order, and whether a Ctrl-C left some of them as they were.

    A bucket that was not minimised has no explanation and no trace. ``buckets`` themselves do not change.
    """
    left, interrupted = unshrunk(buckets), False
    shrunk: dict[str, Shrunk] = {}

    def take(answer: Answer) -> None:
        assert isinstance(answer, Shrunk)
        shrunk[answer.bucket.difference.key()] = answer

    try:
        workers.work((Shrink(answer.bucket) for answer in left), take)
    except KeyboardInterrupt:
        interrupted = True
    return [shrunk.get(answer.bucket.difference.key(), answer) for answer in left], interrupted


def unshrunk(buckets: Sequence[Bucket]) -> list[Shrunk]:
    """Return copies of the buckets as they are, in place of the answers of `minimised`."""
    return [Shrunk(bucket.copied(), "") for bucket in buckets]
