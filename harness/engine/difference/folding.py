"""Folding: which buckets have one cause, and become one bucket with several forms.

One fault often makes several buckets. A rule that the successor adds, for example, acts on whatever wrote the field
before, and each earlier writer makes a bucket of its own; all of them share the place of the rule. If buckets share
several places, the one at fault is the one whose runs differ most often: the new rule makes a difference nearly every
time it runs, a default that it replaces only rarely.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.engine.difference.buckets import Bucket, weight
from harness.engine.difference.compare import Difference, check_texts, decision_text
from harness.engine.difference.minimise import removals
from harness.world.chain import Place

Runs = Mapping[Place | tuple[str, str], int]
"""How often each place of a side ran, and how often each function wrote a field: by ``(field, function)``."""


class Shared(NamedTuple):
    """Something that several buckets may have in common, on one ``side`` (0 or 1).

    ``kind`` is ``field`` (the place that wrote the field ``name``), ``decision``, ``check``, ``message`` (the text of
    a check) or ``variable``. ``text`` identifies it among others of its kind. ``place`` is set for a writer only.
    """

    kind: str
    name: str
    side: int
    text: str
    place: Place | None = None


def fold(buckets: Sequence[Bucket], runs: tuple[Runs, Runs]) -> list[Bucket]:
    """Return one bucket for each cause, most frequent first; each lists the ``parts`` that it is made of.

    ``runs`` are those of each side. Of all shared places, the one whose runs differ most often gets the buckets that
    share it; then the next, until no bucket is left that shares anything. Groups that still have one cause are united
    (`_same_cause`).
    """
    left, groups = list(buckets), []
    # The pairs of checks that differ in some cases although no field or decision had diverged, see `_shares`.
    plain = {
        _refusing(bucket.difference)
        for bucket in buckets
        if bucket.difference.kind in ("refusal", "refusals")
        and bucket.difference.writers is None
        and bucket.difference.decision is None
    }
    shares = {id(bucket): _shares(bucket.difference, plain) for bucket in buckets}
    while left:
        sharing: dict[Shared, list[Bucket]] = {}
        for bucket in left:
            for node in shares[id(bucket)]:
                sharing.setdefault(node, []).append(bucket)
        if not sharing:
            groups += [_Group([bucket], None) for bucket in left]
            break
        # If two are equally suspicious, a place is a better name for the cause than the message of a check.
        node = max(sharing, key=lambda node: (*_suspicion(node, sharing[node], runs), node.kind != "message", node))
        groups.append(_Group(sharing[node], node))
        taken = {id(bucket) for bucket in sharing[node]}
        left = [bucket for bucket in left if id(bucket) not in taken]
    merged = [group.merged() for group in _united(groups, shares)]
    return sorted(merged, key=lambda bucket: (-bucket.count, bucket.difference.key()))


@dataclass
class _Group:
    """Buckets of one cause, and what they share (None for a single bucket that shares nothing)."""

    buckets: list[Bucket]
    node: Shared | None

    @property
    def count(self) -> int:
        return sum(bucket.count for bucket in self.buckets)

    def merged(self) -> Bucket:
        return self.buckets[0] if self.node is None else _merged(self.buckets, self.node)


def _united(groups: Sequence[_Group], shares: Mapping[int, Sequence[Shared]]) -> list[_Group]:
    """Return the groups, after uniting those that have one cause.

    A united group shares the place that `_over` finds for both parts, else what the larger part shares.
    """
    united: list[_Group] = []
    for group in sorted(groups, key=lambda group: -group.count):
        other = next((one for one in united if _same_cause(one, group, shares)), None)
        if other is None:
            united.append(group)
        else:
            other.node = _over(_largest(other), _largest(group)) or other.node
            other.buckets += group.buckets
    return united


def _same_cause(larger: _Group, smaller: _Group, shares: Mapping[int, Sequence[Shared]]) -> bool:
    """Return whether two groups have one cause.

    They do if every bucket of the smaller group also has what the larger group shares. Otherwise the largest bucket
    of each group decides. The second side is the changed one, so two patterns speak for one cause:

    - One place of the second side wrote the field in both, and in one of them the first side left the value as given:
      a rule was added.
    - One function of the first side wrote the field, or refused, in both, and the second side has the same place for
      it in both, or none: several lines of the original became one, or none.
    """
    if larger.node is not None and all(larger.node in shares[id(bucket)] for bucket in smaller.buckets):
        return True
    first, second = _largest(larger), _largest(smaller)
    if _over(first, second) is not None:
        return True
    lost = _lost(first)
    if lost is None:
        return False
    # After a removed check, another check may refuse the same launch.
    return lost == _lost(second) or lost == _lost_check(second)


def _largest(group: _Group) -> Difference:
    return max(group.buckets, key=lambda bucket: bucket.count).difference


def _over(first: Difference, second: Difference) -> Shared | None:
    """Return the place of the second side that writes in both, if the first side leaves the value as given in one."""
    if first.writers is None or second.writers is None or first.writers[1] != second.writers[1]:
        return None
    place, name = first.writers[1], first.parted or first.name
    if place is None or name != (second.parted or second.name):
        return None
    return _writer(name, 1, place) if None in (first.writers[0], second.writers[0]) else None


Lost = tuple[str, str, Place | None]
"""What the second side lost: the field, the function of the first side, and the second's place for it now."""


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
    """Return the two checks of a refusal: their places, or their messages if the places are not known."""
    if difference.checks is not None:
        return check_texts(difference.checks)
    return difference.first or "", difference.second or ""


def _writer(name: str, side: int, place: Place) -> Shared:
    return Shared("field", name, side, str(place), place)


def _shares(difference: Difference, plain: Collection[tuple[str, str]]) -> list[Shared]:
    """Return everything that a difference may share with others: its writers, its decision or its checks.

    ``plain`` are the pairs of checks that also differ in cases where no field had diverged before. For these a
    diverged field is not the reason, so that the checks count and not the writers.
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
        # A check that was moved has another place on each side, and may refuse on the first side in one bucket and on
        # the second in another. Its message is the same in both.
        messages = {text for text in (difference.first, difference.second) if text is not None}
        return [
            *(Shared("check", "", side, check) for side, check in enumerate(checks) if check),
            *(Shared("message", "", 1, text) for text in sorted(messages)),
        ]
    return []


def _suspicion(node: Shared, buckets: Sequence[Bucket], runs: tuple[Runs, Runs]) -> tuple[float, int]:
    """Return how likely the node is the cause: the share of its runs that differ, then the number of cases."""
    cases = sum(bucket.count for bucket in buckets)
    if node.place is None:
        return 1.0, cases
    # In a chain the place of a pass is its first line, in a report of what ran the lines that declare. So its
    # function is looked up if its place is not there.
    by_function = runs[node.side].get((node.name, node.place.source), cases)
    ran = runs[node.side].get(node.place, by_function)
    return cases / max(ran, cases), cases


def _merged(buckets: Sequence[Bucket], node: Shared) -> Bucket:
    """Return the buckets of one cause as one, with the smallest witness and one case of each other form."""
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
