"""Chooses few cases that reach all that many do."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Set


def trimmed(reached: Mapping[str, Set[str | int]]) -> list[str]:
    """Return the names of cases that together reach everything that is ``reached`` by all, by name.

    Greedy: each next one adds the most to those before, of two alike the first by name. What is left out adds
    nothing.
    """
    missing = set().union(*reached.values())
    # The gain of a case never grows: whoever still leads once it is looked at again is the next.
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
