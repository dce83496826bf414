"""Where two subjects part although no field had: the decision that came out otherwise, who set a variable."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from harness.engine.causes import place
from harness.engine.compare import Difference
from harness.world.chain import Decision, Trace, Write

_OWNER = re.compile(r"(?<![\w.)])[A-Za-z_]\w*(?:\([\w.]*\))?\.")
"""The object that a condition asks: the record on one side may be a view of it on the other."""

Taken = tuple[Decision, bool]
Key = tuple[str, str]
"""A decision's function and its text without the objects it asks."""


def needs_trace(root: Difference) -> bool:
    """Whether the writes of a case do not tell all of where ``root`` comes from, so that it takes what it decided."""
    return root.entry is None and root.kind in ("environment", "refusal", "refusals")


def is_told(root: Difference, traces: tuple[Trace, Trace]) -> bool:
    """Whether ``traces`` need no decisions for `parted`: a field had parted, and every refusal has its place."""
    sides = zip((root.first, root.second), traces, strict=True)
    return (
        root.kind != "environment"
        and root.writers is not None
        and all(text is None or trace.raised is not None for text, trace in sides)
    )


def parted(root: Difference, traces: tuple[Trace, Trace]) -> Difference:
    """Return ``root`` with the places that set its variable last, or that refused and where both sides first part.

    A decision is held against the one of the same text in the function of the same name on the other side. One that
    asks a variable which had parted before goes back to who set that.
    """
    if root.kind == "environment":
        return _of_variable(root, root.name, traces)
    checks = [
        "" if text is None else trace.raised and place(trace.raised)
        for text, trace in zip((root.first, root.second), traces, strict=True)
    ]
    if checks[0] is not None and checks[1] is not None:
        root = msgspec.structs.replace(root, checks=(checks[0], checks[1]))
    if root.writers is not None:
        return root
    found = _first_parted(traces)
    if found is None:
        return root
    last = [_last_values(trace) for trace in traces]
    for name in sorted(last[0].keys() | last[1].keys()):
        if last[0].get(name) != last[1].get(name) and re.search(rf"\b{re.escape(name)}\b", found[0].text):
            return _of_variable(msgspec.structs.replace(root, name=name), name, traces)
    first, second = (f"{_plain(one.text)} in {place(one)}" for one in found)
    return msgspec.structs.replace(root, decision=(first, second))


def _of_variable(root: Difference, name: str, traces: tuple[Trace, Trace]) -> Difference:
    setters = [_last(name, trace.variables) for trace in traces]
    if setters == [None, None]:
        return root
    return msgspec.structs.replace(root, writers=(place(setters[0]), place(setters[1])))


def _last(name: str, writes: Sequence[Write]) -> Write | None:
    return next((write for write in reversed(writes) if write.field == name), None)


def _last_values(trace: Trace) -> dict[str, object]:
    return {write.field: write.value for write in trace.variables}


def _first_parted(traces: tuple[Trace, Trace]) -> tuple[Decision, Decision] | None:
    """Return the first decision, on both sides, that the second side answers otherwise than the first."""
    here, there = (_by_key(trace) for trace in traces)
    answers: dict[Key, Iterator[Taken]] = {}
    for decision, outcome in traces[0].taken:
        key = _key(decision)
        others = answers.get(key)
        if others is None:
            known = there.get(key, [])
            others = answers[key] = iter(known if known and _one_place(here[key], known) else ())
        other = next(others, None)
        if other is not None and other[1] != outcome:
            return decision, other[0]
    return None


def _by_key(trace: Trace) -> dict[Key, list[Taken]]:
    found: dict[Key, list[Taken]] = {}
    for taken in trace.taken:
        found.setdefault(_key(taken[0]), []).append(taken)
    return found


# By the object's own number: a subject has each of its decisions once, and hashing all of its texts takes longer. The
# object is kept, so that its number is not given to another.
_keys: dict[int, tuple[Decision, Key]] = {}


def _key(decision: Decision) -> Key:
    known = _keys.get(id(decision))
    if known is None:
        known = _keys[id(decision)] = decision, (decision.source, _plain(decision.text))
    return known[1]


def _plain(text: str) -> str:
    """Return a condition without the objects whose attributes it asks, those within them left."""
    return _OWNER.sub("", text)


def _one_place(*sides: Sequence[Taken]) -> bool:
    """Whether a decision stands in one place of each side: of two alike it is not known which answers to which."""
    for taken in sides:
        first = taken[0][0]
        for one, _ in taken:
            if one is not first and (one.file, one.line) != (first.file, first.line):
                return False
    return True
