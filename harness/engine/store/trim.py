"""Chooses a few cases that together reach everything that many cases reach."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Set


def trimmed(reached: Mapping[str, Set[str | int]]) -> list[str]:
    """Return the names of a few cases that together reach everything that any case reaches.

    ``reached`` maps the name of a case to what it reaches. The choice is greedy: the next case is the one that adds
    most to those before; between two that add the same number, the first by name. The cases left out add nothing.
    """
    missing = set().union(*reached.values())
    # The gain of a case never grows. So if the first of the heap still leads after its gain is computed again, it is
    # the next, and the gains of the others need not be computed.
    heap = [(-len(features), name) for name, features in reached.items()]
    heapq.heapify(heap)
    chosen = []
    while missing:
        _, name = heapq.heappop(heap)
        gain = len(reached[name] & missing)
        if heap and (-gain, name) > heap[0]:
            if gain:
                heapq.heappush(heap, (-gain, name))
            continue
        if gain:
            chosen.append(name)
            missing -= reached[name]
    return chosen
