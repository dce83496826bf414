"""Finds the cases that are the first to reach a line, a check or a difference; the guide keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from harness.engine.difference.compare import Difference, check_words
from harness.engine.search.guide import STREAMS, News
from harness.subjects.child.serve.operations import ALONE, ReachReport
from harness.world.case import Case

_REFUSED = b"E"[0]


class Newsroom:
    """Remembers the checks and differences of one job, so that each is reported once for each stream."""

    def __init__(self) -> None:
        self._known: list[set[str]] = [set() for _ in range(STREAMS)]

    def of(
        self,
        stream: int,
        cases: Sequence[Case],
        frames: Sequence[tuple[bytes, bytes]],
        found: Sequence[Sequence[Difference]],
        reach: tuple[ReachReport, ReachReport],
    ) -> list[News]:
        """Return the cases of a chunk that reached something new, in their order.

        ``frames`` are both subjects' answers to each case, ``found`` its differences, ``reach`` what both report of
        the chunk.
        """
        reached: dict[int, list[int]] = {}
        for side, report in enumerate(reach):
            for position, numbers in report.news:
                reached.setdefault(position, []).extend(2 * number + side for number in numbers)
        checks: dict[int, list[str]] = {}
        # `ALONE` stands for no stream: each case counts by itself, and everything that it reaches is new.
        known = self._known[stream] if stream != ALONE else None
        for position, (pair, differences) in enumerate(zip(frames, found, strict=True)):
            texts = [_check(frame) for frame in dict.fromkeys(pair) if frame[0] == _REFUSED]
            texts += [difference.key() for difference in differences]
            fresh = [text for text in dict.fromkeys(texts) if known is None or text not in known]
            if fresh:
                checks[position] = fresh
            if known is not None:
                known.update(fresh)
        return [
            News(cases[position], reached.get(position, []), checks.get(position, []))
            for position in sorted(reached.keys() | checks.keys())
        ]


def _check(frame: bytes) -> str:
    """Return the check that a refusal's frame names."""
    refusal, aside = frame[1:].split(b"\n", 2)[:2]
    return _check_of(refusal, aside)


@lru_cache(maxsize=4096)
def _check_of(refusal: bytes, aside: bytes) -> str:
    kind, message = msgspec.json.decode(refusal)
    origin, _ = msgspec.json.decode(aside)
    return f"{origin}: {check_words(kind, message, origin)}"
