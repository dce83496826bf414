"""Where two subjects diverge although no field did: at a decision with another result, or where a variable is set."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from harness.engine.difference.compare import Difference
from harness.engine.difference.roots import last_write
from harness.world.chain import Decision, Trace, place_of

_OWNER = re.compile(r"(?<![\w.)])[A-Za-z_]\w*(?:\([\w.]*\))?\.")
"""The object in a condition. It is left out of the comparison, since one side may ask the record and the other
a view."""

Taken = tuple[Decision, bool]
"""A decision that a case came to, and the result that it had."""

Key = tuple[str, str]
"""A decision's function, and its text without the objects."""


def needs_trace(root: Difference) -> bool:
    """Return whether the writes of fields do not explain ``root``, so that the decisions of the case are needed."""
    return root.entry is None and root.kind in ("environment", "refusal", "refusals")


def needs_no_decisions(root: Difference, traces: tuple[Trace, Trace]) -> bool:
    """Return whether `located` can do without decisions: a field had diverged, and every refusal has its place."""
    sides = zip((root.first, root.second), traces, strict=True)
    return (
        root.kind != "environment"
        and root.writers is not None
        and all(text is None or trace.raised is not None for text, trace in sides)
    )


def located(root: Difference, traces: tuple[Trace, Trace]) -> Difference:
    """Return ``root`` with the places that set its variable last, or with its checks and the diverging decision.

    A decision is compared with the decision of the same text in the function of the same name on the other side. If
    the decision asks a variable that had diverged before, the places that set this variable are the reason.
    """
    if root.kind == "environment":
        return _of_variable(root, root.name, traces)
    sides = list(zip((root.first, root.second), traces, strict=True))
    if all(text is None or trace.raised is not None for text, trace in sides):
        first, second = (None if text is None else trace.raised for text, trace in sides)
        root = msgspec.structs.replace(root, checks=(first, second))
    if root.writers is not None:
        return root
    found = _first_diverging(traces)
    if found is None:
        return root
    last = [_last_values(trace) for trace in traces]
    for name in sorted(last[0].keys() | last[1].keys()):
        if last[0].get(name) != last[1].get(name) and re.search(rf"\b{re.escape(name)}\b", found[0].text):
            return _of_variable(msgspec.structs.replace(root, name=name), name, traces)
    left, right = (Decision(text=_plain(one.text), source=one.source, file=one.file, line=one.line) for one in found)
    return msgspec.structs.replace(root, decision=(left, right))


def _of_variable(root: Difference, name: str, traces: tuple[Trace, Trace]) -> Difference:
    first, second = (place_of(last_write(name, trace.variables)) for trace in traces)
    return root if first is second is None else msgspec.structs.replace(root, writers=(first, second))


def _last_values(trace: Trace) -> dict[str, object]:
    return {write.field: write.value for write in trace.variables}


def _first_diverging(traces: tuple[Trace, Trace]) -> tuple[Decision, Decision] | None:
    """Return the first decision of the first side that has another result on the second, as it is on both sides.

    The n-th time that the first side asks a decision is compared with the n-th time that the second side does.
    """
    first, second = (trace.taken for trace in traces)
    keys, others = _keys(first), _keys(second)
    # Skip the common beginning: most decisions of a case are alike, and to match them by key takes much longer.
    start = 0
    for key, other in zip(keys, others, strict=False):
        if key is not other or first[start][1] is not second[start][1]:
            break
        start += 1
    answers: dict[Key, list[int]] = {}
    for index in range(len(others) - 1, start - 1, -1):
        answers.setdefault(others[index], []).append(index)
    for index in range(start, len(keys)):
        left = answers.get(keys[index])
        if left:
            decision, outcome = second[left.pop()]
            if outcome is first[index][1]:
                continue
            if _one_place(keys[index], first, keys) and _one_place(keys[index], second, others):
                return first[index][0], decision
    return None


# Keys are looked up by the identity of the ``Taken`` object: a subject reports each result by one object, and hashing
# its texts would take longer. The table holds the object, so that no other object can get its identity. Equal keys
# are one object, so that `_first_diverging` can compare them with ``is``.
_known_keys: dict[int, tuple[Taken, Key]] = {}
_same_keys: dict[Key, Key] = {}
_MOST_KNOWN: Final = 1 << 16


def _keys(taken: Sequence[Taken]) -> list[Key]:
    """Return the key of each decision that was taken."""
    if len(_known_keys) > _MOST_KNOWN:
        _known_keys.clear()
    found = list(map(_known_keys.get, map(id, taken)))
    return [(known or _met(one))[1] for known, one in zip(found, taken, strict=True)]


def _met(taken: Taken) -> tuple[Taken, Key]:
    decision, _ = taken
    key = (decision.source, _plain(decision.text))
    known = _known_keys[id(taken)] = taken, _same_keys.setdefault(key, key)
    return known


def _plain(text: str) -> str:
    """Return a condition without the objects whose attributes it asks; attributes of attributes stay."""
    return _OWNER.sub("", text)


def _one_place(key: Key, taken: Sequence[Taken], keys: Sequence[Key]) -> bool:
    """Return whether ``key`` has one place on a side: with two it is unclear which matches which."""
    asked = zip(taken, keys, strict=True)
    return len({(one.file, one.line) for (one, _), other in asked if other is key}) == 1
