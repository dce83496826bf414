"""The root of a difference: of all that differs in one case, what diverged first. The rest follows from it.

Both subjects report which writes a case made. A field *diverges* at the first write, on either side, of a value that
the other side never gives it. Fields that diverged and became equal again count too, since others may follow from
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Any

import msgspec

from harness.engine.difference.compare import Difference
from harness.world.case import Outcome
from harness.world.chain import Write, place_of

Writes = Sequence[Write]
"""The writes that one side made for a case, in order."""
At = tuple[int | None, int | None]
"""A write on each side, by its number in the chain; None where there is none."""


def rooted(
    found: Sequence[Difference], chains: tuple[Writes, Writes], outcomes: tuple[Outcome, Outcome]
) -> Difference:
    """Return the difference from which the others of one case follow, with its writers and the names of the others.

    ``found`` are all differences of the case, at least one. If no side reports writes, the first of them is returned.
    """
    if not any(chains):
        return found[0]
    fields = [difference for difference in found if difference.kind == "field"]
    if fields:
        shared = _shared(chains)
        by_name = {difference.name: difference for difference in fields}
        written = {write.field for chain in chains for write in chain}
        diverged = {name: _divergence(name, chains) for name in by_name}
        diverged |= {name: at for name in written - by_name.keys() if None not in (at := _both_diverge(name, chains))}
        ranked = sorted(diverged, key=lambda name: (_rank(name, shared, diverged), name))
        name = ranked[0]
        # If that field became equal again, the earliest of those that still differ stands for it.
        root = by_name[name] if name in by_name else by_name[next(one for one in ranked if one in by_name)]
        along = tuple(difference.name for difference in found if difference is not root)
        first, second = (
            None if at is None else chain[at].place for chain, at in zip(chains, diverged[name], strict=True)
        )
        again_equal = None if name in by_name else name
        return msgspec.structs.replace(root, writers=(first, second), along=along, parted=again_equal)
    root = found[0]
    if root.kind in ("refusal", "refusals"):
        early = _field_diverged_before(chains, outcomes)
        if early is not None:
            first, second = (place_of(last_write(early, chain)) for chain in chains)
            return msgspec.structs.replace(root, name=early, writers=(first, second))
    return root


def last_write(name: str, chain: Writes) -> Write | None:
    """Return the last write of a field or variable, None if there is none."""
    return next((write for write in reversed(chain) if write.field == name), None)


def _divergence(name: str, chains: tuple[Writes, Writes]) -> At:
    """Return on each side the write at which a field diverges.

    If a side has no such write, return the last write of the field on each side.
    """
    both = _both_diverge(name, chains)
    return (_last_index(name, chains[0]), _last_index(name, chains[1])) if None in both else both


def _both_diverge(name: str, chains: tuple[Writes, Writes]) -> At:
    """Return on each side the first write of ``name`` to a value that the other side never writes."""
    first, second = ([repr(write.value) for write in chain if write.field == name] for chain in chains)
    return _first_other(name, chains[0], second), _first_other(name, chains[1], first)


def _first_other(name: str, chain: Writes, others: Sequence[str]) -> int | None:
    found = (index for index, write in enumerate(chain) if write.field == name and repr(write.value) not in others)
    return next(found, None)


def _shared(chains: tuple[Writes, Writes]) -> tuple[list[int], list[int]]:
    """Return for each write of either side how many earlier writes both sides make in the same order."""
    values = [[(write.field, repr(write.value)) for write in chain] for chain in chains]
    matcher = SequenceMatcher(None, values[0], values[1], autojunk=False)
    marks = [0] * len(chains[0]), [0] * len(chains[1])
    for block in matcher.get_matching_blocks():
        for side, start in enumerate((block.a, block.b)):
            marks[side][start : start + block.size] = [1] * block.size
    first, second = ([total - mark for total, mark in zip(accumulate(side), side, strict=True)] for side in marks)
    return first, second


def _rank(name: str, shared: tuple[list[int], list[int]], diverged: Mapping[str, At]) -> tuple[int, int, int]:
    """Return how early ``name`` diverges: a smaller rank is earlier.

    The first part is the number of writes before it that both sides make, the only measure that the sides share:
    positions in two chains of different length cannot be compared. The other two parts break ties: on each side,
    the number of fields that diverge before ``name``; the smaller number first, then the larger.
    """
    ranks, before = [], []
    for side, counts in enumerate(shared):
        own = diverged[name][side]
        if own is not None:
            ranks.append(sum(1 for at in diverged.values() if (other := at[side]) is not None and other < own))
            before.append(counts[own])
    last = len(diverged)
    return min(before, default=max(map(len, shared))), min(ranks, default=last), max(ranks, default=last)


def _last_index(name: str, chain: Writes) -> int | None:
    return next((index for index in reversed(range(len(chain))) if chain[index].field == name), None)


def _field_diverged_before(chains: tuple[Writes, Writes], outcomes: tuple[Outcome, Outcome]) -> str | None:
    """Return the first field that had diverged on a refusing side: its last value there never occurs on the other."""
    for side, (chain, outcome) in enumerate(zip(chains, outcomes, strict=True)):
        if outcome.error is None:
            continue
        other, resolved = chains[1 - side], outcomes[1 - side].fields or {}
        last = {write.field: write for write in chain}
        for write in chain:
            if last[write.field] is not write:
                continue
            known = [one.value for one in other if one.field == write.field]
            if write.field in resolved:
                known.append(resolved[write.field])
            if not known or any(_equal(write.value, value) for value in known):
                continue
            # If the other side refused too, its last value may be an intermediate one that this side also wrote.
            # Then the other side only stopped earlier, and the field has not diverged.
            own = [one.value for one in chain if one.field == write.field]
            if outcomes[1 - side].error is None or not any(_equal(known[-1], value) for value in own):
                return write.field
    return None


def _equal(first: Any, second: Any) -> bool:
    return type(first) is type(second) and bool(first == second)
