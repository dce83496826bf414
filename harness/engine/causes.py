"""Root causes: which of the things that differ in a case came first, and which buckets are one fault.

Both subjects say which writes a case made. Of the fields that differ, the one whose last write comes first is the
root and the others follow from it. Buckets that share the write at fault, or the check that one side raises, are then
one cause: a rule that the successor adds meets whatever wrote the field before, and each of those is its own bucket.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Any, Final

import msgspec

from harness.engine.buckets import Bucket, weight
from harness.engine.compare import Difference
from harness.engine.minimise import removals
from harness.world.case import Outcome
from harness.world.chain import Decision, Write, Writer

AS_GIVEN: Final = "as given"
"""What stands for the writer of a field that no one writes."""

Chain = Sequence[Write]
Node = tuple[str, str, int, str]
"""What buckets may share: a field's writer or a check, the field, the side, and the place or the check in words."""


def place(write: Write | Writer | Decision | None) -> str:
    """Return a write's place in words."""
    return AS_GIVEN if write is None else f"{write.source} ({write.file}:{write.line})"


def writes_of(field: str, text: str) -> str:
    """Return a name for all writes of a field in the function of a place in words."""
    return f"{field} in {text.partition(' (')[0]}"


def rooted(found: Sequence[Difference], chains: tuple[Chain, Chain], outcomes: tuple[Outcome, Outcome]) -> Difference:
    """Return the difference of one case from which the others follow, with its last writers and the others' names.

    ``found`` are all of one case, at least one. Without writes on either side the first one is returned.
    """
    if not any(chains):
        return found[0]
    fields = [difference for difference in found if difference.kind == "field"]
    if fields:
        shared = _shared(chains)
        root = min(fields, key=lambda difference: (_rank(difference.name, chains, shared, fields), difference.name))
        along = tuple(difference.name for difference in found if difference is not root)
        writers = _last(root.name, chains[0]), _last(root.name, chains[1])
        return msgspec.structs.replace(root, writers=(place(writers[0]), place(writers[1])), along=along)
    root = found[0]
    if root.kind in ("refusal", "refusals"):
        parted = _parted_before(chains, outcomes)
        if parted is not None:
            writers = _last(parted, chains[0]), _last(parted, chains[1])
            return msgspec.structs.replace(root, name=parted, writers=(place(writers[0]), place(writers[1])))
    return root


def _last(name: str, chain: Chain) -> Write | None:
    return next((write for write in reversed(chain) if write.field == name), None)


def _shared(chains: tuple[Chain, Chain]) -> tuple[list[int], list[int]]:
    """Return for each write of either side how many writes before it both sides make, in the same order."""
    values = [[(write.field, repr(write.value)) for write in chain] for chain in chains]
    matcher = SequenceMatcher(None, values[0], values[1], autojunk=False)
    marks = [0] * len(chains[0]), [0] * len(chains[1])
    for block in matcher.get_matching_blocks():
        for side, start in enumerate((block.a, block.b)):
            marks[side][start : start + block.size] = [1] * block.size
    first, second = ([total - mark for total, mark in zip(accumulate(side), side, strict=True)] for side in marks)
    return first, second


def _rank(
    name: str, chains: tuple[Chain, Chain], shared: tuple[list[int], list[int]], fields: Sequence[Difference]
) -> tuple[int, int, int]:
    """Return how early the last write of ``name`` is, the smaller the earlier.

    What both sides wrote before it tells across the sides. Where that is the same: where it comes among the last
    writes of all differing fields, on the side where it is sooner, then on the other.
    """
    ranks, before = [], []
    for chain, counts in zip(chains, shared, strict=True):
        places = [_last_index(difference.name, chain) for difference in fields]
        own = _last_index(name, chain)
        if own is not None:
            ranks.append(sum(1 for other in places if other is not None and other < own))
            before.append(counts[own])
    last = len(fields)
    return min(before, default=max(map(len, chains))), min(ranks, default=last), max(ranks, default=last)


def _last_index(name: str, chain: Chain) -> int | None:
    return next((index for index in reversed(range(len(chain))) if chain[index].field == name), None)


def _parted_before(chains: tuple[Chain, Chain], outcomes: tuple[Outcome, Outcome]) -> str | None:
    """Return the first field that a refusing side had written to what the other side never makes of it."""
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
            if known and not any(_equal(write.value, value) for value in known):
                return write.field
    return None


def _equal(first: Any, second: Any) -> bool:
    return type(first) is type(second) and bool(first == second)


def fold(buckets: Sequence[Bucket], runs: tuple[Mapping[str, int], Mapping[str, int]]) -> list[Bucket]:
    """Return one bucket a cause, most frequent first; each holds the ``parts`` that it is made of.

    ``runs`` tells for each side how often a place ran, and how often a function wrote a field. What buckets share is
    the more likely the cause, the larger the part of its runs in which there is a difference: the rule at fault
    nearly always makes one, a default that it replaces seldom.
    """
    left, causes = list(buckets), []
    plain = {
        (bucket.difference.first, bucket.difference.second)
        for bucket in buckets
        if bucket.difference.kind in ("refusal", "refusals")
        and bucket.difference.writers is None
        and bucket.difference.decision is None
    }
    while left:
        sharing: dict[Node, list[Bucket]] = {}
        for bucket in left:
            for node in _nodes(bucket.difference, plain):
                sharing.setdefault(node, []).append(bucket)
        if not sharing:
            causes += left
            break
        node = max(sharing, key=lambda node: (_suspicion(node, sharing[node], runs), node))
        causes.append(_merged(sharing[node], node))
        left = [bucket for bucket in left if bucket not in sharing[node]]
    return sorted(causes, key=lambda bucket: (-bucket.count, bucket.difference.key()))


def _nodes(difference: Difference, plain: Collection[tuple[Any, Any]]) -> list[Node]:
    """Return what a difference may have in common with others: its writer, or its check, on either side.

    ``plain`` are the pairs of checks that part without any field having parted before: where a field had, that was
    not why.
    """
    checks = difference.first, difference.second
    if difference.kind == "environment" and difference.writers is None:
        return [("variable", difference.name, 0, difference.name)]
    if difference.decision is not None and checks not in plain:
        return [("decision", "", side, decision) for side, decision in enumerate(difference.decision)]
    if difference.writers is not None and (difference.kind in ("environment", "field") or checks not in plain):
        return [
            ("field", difference.name, side, writer)
            for side, writer in enumerate(difference.writers)
            if writer != AS_GIVEN
        ]
    if difference.kind in ("refusal", "refusals"):
        return [("check", "", side, check) for side, check in enumerate(checks) if check is not None]
    return []


def _suspicion(
    node: Node, buckets: Sequence[Bucket], runs: tuple[Mapping[str, int], Mapping[str, int]]
) -> tuple[float, int]:
    cases = sum(bucket.count for bucket in buckets)
    kind, name, side, text = node
    if kind != "field":
        return 1.0, cases
    # A pass is known by its first line, and what ran by the lines of what it declares.
    ran = runs[side].get(text, runs[side].get(writes_of(name, text), cases))
    return cases / max(ran, cases), cases


def _merged(buckets: Sequence[Bucket], node: Node) -> Bucket:
    """Return the buckets of one cause as one: the smallest witness first, then one case of each other form."""
    forms: dict[tuple[str, ...], tuple[Bucket, Any]] = {}
    lightest = min(buckets, key=lambda bucket: weight(bucket.witness))
    cases = [(bucket, case) for bucket in buckets for case in (bucket.witness, *bucket.others)]
    for bucket, case in sorted(cases, key=lambda pair: weight(pair[1])):
        forms.setdefault(tuple(removals(case)), (bucket, case))
    others = [case for _, case in forms.values() if case is not lightest.witness]
    parts = sorted(buckets, key=lambda bucket: (-bucket.count, bucket.difference.key()))
    return Bucket(
        difference=lightest.difference,
        count=sum(bucket.count for bucket in buckets),
        witness=lightest.witness,
        others=others,
        parts=[(bucket.difference, bucket.count) for bucket in parts],
        shared=(node[2], node[3]),
    )
