"""What the cases of a chunk were the first of a job to reach: in the sources, of the checks, of the differences."""

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
    """Gathers for one job."""

    def __init__(self) -> None:
        self._told: list[set[str]] = [set() for _ in range(STREAMS)]

    def of(
        self,
        stream: int,
        cases: Sequence[Case],
        frames: Sequence[tuple[bytes, bytes]],
        found: Sequence[Sequence[Difference]],
        reach: tuple[ReachReport, ReachReport],
    ) -> list[News]:
        """Return the cases of a chunk that reached something, in their order.

        ``frames`` are the answers of both subjects, ``found`` what differs, ``reach`` what both say of the chunk.
        """
        reached: dict[int, list[int]] = {}
        for side, told in enumerate(reach):
            for position, numbers in told.news:
                reached.setdefault(position, []).extend(2 * number + side for number in numbers)
        checks: dict[int, list[str]] = {}
        known = self._told[stream] if stream != ALONE else None
        for position, (pair, differences) in enumerate(zip(frames, found, strict=True)):
            said = [_check(frame) for frame in dict.fromkeys(pair) if frame[0] == _REFUSED]
            said += [difference.key() for difference in differences]
            fresh = [text for text in dict.fromkeys(said) if known is None or text not in known]
            if fresh:
                checks[position] = fresh
            if known is not None:
                known.update(fresh)
        return [
            News(cases[position], reached.get(position, []), checks.get(position, []))
            for position in sorted(reached.keys() | checks.keys())
        ]


def _check(frame: bytes) -> str:
    """Return the check that a refusal's frame tells of."""
    said, aside = frame[1:].split(b"\n", 2)[:2]
    return _check_of(said, aside)


@lru_cache(maxsize=4096)
def _check_of(said: bytes, aside: bytes) -> str:
    kind, message = msgspec.json.decode(said)
    origin, _ = msgspec.json.decode(aside)
    return f"{origin}: {check_words(kind, message, origin)}"
