"""Root causes: which of the things that differ in a case came first, and which buckets are one fault.

Both subjects say which writes a case made. Of the fields that differ, or had differed on the way, the one that parts
first is the root and the others follow from it. Buckets that share the write at fault, or the check that one side
raises, are then one cause: a rule that the successor adds meets whatever wrote the field before, and each of those is
its own bucket.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Any, NamedTuple

import msgspec

from harness.engine.difference.buckets import Bucket, weight
from harness.engine.difference.compare import Difference, check_texts, decision_text
from harness.engine.difference.minimise import removals
from harness.world.case import Outcome
from harness.world.chain import Place, Write, place_of

Chain = Sequence[Write]
At = tuple[int | None, int | None]
"""A write on each side, by its number in the chain; None where there is none."""

Runs = Mapping[Place | tuple[str, str], int]
"""How often each place of a side ran, and how often each function wrote a field: by ``(field, function)``."""


class Shared(NamedTuple):
    """Something that several buckets may have in common.

    ``kind`` is ``field`` (a writer), ``decision``, ``check``, ``said`` (the message of a check) or ``variable``;
    ``name`` is the field. ``text`` identifies it, and orders it among others. ``place`` is set for a writer.
    """

    kind: str
    name: str
    side: int
    text: str
    place: Place | None = None


def rooted(found: Sequence[Difference], chains: tuple[Chain, Chain], outcomes: tuple[Outcome, Outcome]) -> Difference:
    """Return the difference of one case from which the others follow, with its writers and the others' names.

    ``found`` are all of one case, at least one. Without writes on either side the first one is returned.
    """
    if not any(chains):
        return found[0]
    fields = [difference for difference in found if difference.kind == "field"]
    if fields:
        shared = _shared(chains)
        by_name = {difference.name: difference for difference in fields}
        written = {write.field for chain in chains for write in chain}
        parting = {name: _parting(name, chains) for name in by_name}
        parting |= {name: at for name in written - by_name.keys() if None not in (at := _parting_both(name, chains))}
        ranked = sorted(parting, key=lambda name: (_rank(name, shared, parting), name))
        name = ranked[0]
        root = by_name[name] if name in by_name else by_name[next(one for one in ranked if one in by_name)]
        along = tuple(difference.name for difference in found if difference is not root)
        first, second = (
            None if at is None else chain[at].place for chain, at in zip(chains, parting[name], strict=True)
        )
        parted = None if name in by_name else name
        return msgspec.structs.replace(root, writers=(first, second), along=along, parted=parted)
    root = found[0]
    if root.kind in ("refusal", "refusals"):
        parted = _parted_before(chains, outcomes)
        if parted is not None:
            first, second = (place_of(_last(parted, chain)) for chain in chains)
            return msgspec.structs.replace(root, name=parted, writers=(first, second))
    return root


def _last(name: str, chain: Chain) -> Write | None:
    return next((write for write in reversed(chain) if write.field == name), None)


def _parting(name: str, chains: tuple[Chain, Chain]) -> At:
    """Return the write on each side by which a field that differs parts: where it first does, or the last one."""
    both = _parting_both(name, chains)
    return (_last_index(name, chains[0]), _last_index(name, chains[1])) if None in both else both


def _parting_both(name: str, chains: tuple[Chain, Chain]) -> At:
    """Return on each side the first write of ``name`` to a value that the other side never writes."""
    first, second = ([repr(write.value) for write in chain if write.field == name] for chain in chains)
    return _first_other(name, chains[0], second), _first_other(name, chains[1], first)


def _first_other(name: str, chain: Chain, others: Sequence[str]) -> int | None:
    found = (index for index, write in enumerate(chain) if write.field == name and repr(write.value) not in others)
    return next(found, None)


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


def _rank(name: str, shared: tuple[list[int], list[int]], parting: Mapping[str, At]) -> tuple[int, int, int]:
    """Return how early ``name`` parts, the smaller the earlier.

    What both sides wrote before it tells across the sides. Where that is the same: where it comes among the writes
    by which all of them part, on the side where it is sooner, then on the other.
    """
    ranks, before = [], []
    for side, counts in enumerate(shared):
        own = parting[name][side]
        if own is not None:
            ranks.append(sum(1 for at in parting.values() if (other := at[side]) is not None and other < own))
            before.append(counts[own])
    last = len(parting)
    return min(before, default=max(map(len, shared))), min(ranks, default=last), max(ranks, default=last)


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
            if not known or any(_equal(write.value, value) for value in known):
                continue
            # The other side may have refused before it came to this write.
            own = [one.value for one in chain if one.field == write.field]
            if outcomes[1 - side].error is None or not any(_equal(known[-1], value) for value in own):
                return write.field
    return None


def _equal(first: Any, second: Any) -> bool:
    return type(first) is type(second) and bool(first == second)


def fold(buckets: Sequence[Bucket], runs: tuple[Runs, Runs]) -> list[Bucket]:
    """Return one bucket a cause, most frequent first; each holds the ``parts`` that it is made of.

    ``runs`` tells for each side how often a place ran, and how often a function wrote a field. What buckets share is
    the more likely the cause, the larger the part of its runs in which there is a difference: the rule at fault
    nearly always makes one, a default that it replaces seldom. What is found this way is one cause again where it
    shares more: see `_same_cause`.
    """
    left, causes = list(buckets), []
    plain = {
        _refusing(bucket.difference)
        for bucket in buckets
        if bucket.difference.kind in ("refusal", "refusals")
        and bucket.difference.writers is None
        and bucket.difference.decision is None
    }
    nodes = {id(bucket): _nodes(bucket.difference, plain) for bucket in buckets}
    while left:
        sharing: dict[Shared, list[Bucket]] = {}
        for bucket in left:
            for node in nodes[id(bucket)]:
                sharing.setdefault(node, []).append(bucket)
        if not sharing:
            causes += [_Cause([bucket], None) for bucket in left]
            break
        node = max(sharing, key=lambda node: (*_suspicion(node, sharing[node], runs), node[0] != "said", node))
        causes.append(_Cause(sharing[node], node))
        taken = {id(bucket) for bucket in sharing[node]}
        left = [bucket for bucket in left if id(bucket) not in taken]
    merged = [cause.merged() for cause in _united(causes, nodes)]
    return sorted(merged, key=lambda bucket: (-bucket.count, bucket.difference.key()))


@dataclass
class _Cause:
    """The buckets of one cause, and what they share."""

    buckets: list[Bucket]
    node: Shared | None

    @property
    def count(self) -> int:
        return sum(bucket.count for bucket in self.buckets)

    def merged(self) -> Bucket:
        return self.buckets[0] if self.node is None else _merged(self.buckets, self.node)


def _united(causes: Sequence[_Cause], nodes: Mapping[int, Sequence[Shared]]) -> list[_Cause]:
    """Return the causes with those put together that are one, the larger of two saying what they share."""
    united: list[_Cause] = []
    for cause in sorted(causes, key=lambda cause: -cause.count):
        other = next((one for one in united if _same_cause(one, cause, nodes)), None)
        if other is None:
            united.append(cause)
        else:
            other.node = _over(_largest(other), _largest(cause)) or other.node
            other.buckets += cause.buckets
    return united


def _same_cause(larger: _Cause, smaller: _Cause, nodes: Mapping[int, Sequence[Shared]]) -> bool:
    """Whether two causes are one, judged by the largest bucket of either, or by all of the smaller one.

    They are if all of the smaller one also has what the larger one shares. And they are if the second side, which is
    the changed one, has one place for both (or has no writer, or no check, for both), and on the first side one
    function is behind both, or behind one and nobody behind the other: it may have several lines, or leave as given,
    for what the second side has one for.
    """
    if larger.node is not None and all(larger.node in nodes[id(bucket)] for bucket in smaller.buckets):
        return True
    first, second = _largest(larger), _largest(smaller)
    if _over(first, second) is not None:
        return True
    lost = _lost(first)
    if lost is None:
        return False
    # Behind a check that is gone, another one may refuse.
    return lost == _lost(second) or lost == _lost_check(second)


def _largest(cause: _Cause) -> Difference:
    return max(cause.buckets, key=lambda bucket: bucket.count).difference


def _over(first: Difference, second: Difference) -> Shared | None:
    """Return the line of the second side that writes over what the first leaves as given in one of the two."""
    if first.writers is None or second.writers is None or first.writers[1] != second.writers[1]:
        return None
    place, name = first.writers[1], first.parted or first.name
    if place is None or name != (second.parted or second.name):
        return None
    return _writer(name, 1, place) if None in (first.writers[0], second.writers[0]) else None


Lost = tuple[str, str, Place | None]
"""What the second side lost: the field, the first side's function, and the second's place that has it now."""


def _lost(difference: Difference) -> Lost | None:
    if difference.writers is not None:
        first, second = difference.writers
        return None if first is None else (difference.parted or difference.name, first.source, second)
    return _lost_check(difference) if difference.kind == "refusal" else None


def _lost_check(difference: Difference) -> Lost | None:
    if difference.checks is None or difference.writers is not None or difference.checks[0] is None:
        return None
    return "", difference.checks[0].source, None


def _refusing(difference: Difference) -> tuple[str, str]:
    """Return the pair of checks of a refusal: their places, or their messages if the places are not known."""
    if difference.checks is not None:
        return check_texts(difference.checks)
    return difference.first or "", difference.second or ""


def _writer(name: str, side: int, place: Place) -> Shared:
    return Shared("field", name, side, str(place), place)


def _nodes(difference: Difference, plain: Collection[tuple[str, str]]) -> list[Shared]:
    """Return what a difference may have in common with others: its writer, or its check, on either side.

    ``plain`` are the pairs of checks that part without any field having parted before: where a field had, that was
    not why.
    """
    checks = _refusing(difference)
    if difference.kind == "environment" and difference.writers is None:
        return [Shared("variable", difference.name, 0, difference.name)]
    if difference.decision is not None and checks not in plain:
        return [Shared("decision", "", side, decision_text(one)) for side, one in enumerate(difference.decision)]
    if difference.writers is not None and (difference.kind in ("environment", "field") or checks not in plain):
        name = difference.parted or difference.name
        return [_writer(name, side, place) for side, place in enumerate(difference.writers) if place is not None]
    if difference.kind in ("refusal", "refusals"):
        # One check may come first on one side here and on the other there: by what it says it is the same.
        said = {text for text in (difference.first, difference.second) if text is not None}
        return [
            *(Shared("check", "", side, check) for side, check in enumerate(checks) if check),
            *(Shared("said", "", 1, text) for text in sorted(said)),
        ]
    return []


def _suspicion(node: Shared, buckets: Sequence[Bucket], runs: tuple[Runs, Runs]) -> tuple[float, int]:
    cases = sum(bucket.count for bucket in buckets)
    if node.place is None:
        return 1.0, cases
    # A pass is known by its first line, and what ran by the lines of what it declares.
    by_function = runs[node.side].get((node.name, node.place.source), cases)
    ran = runs[node.side].get(node.place, by_function)
    return cases / max(ran, cases), cases


def _merged(buckets: Sequence[Bucket], node: Shared) -> Bucket:
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
        shared=(node.side, node.text),
    )
