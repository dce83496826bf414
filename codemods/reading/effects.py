"""What the functions of a resolution do to the record, in sum: for asking whether a call may stand in a pass."""

from __future__ import annotations

from codemods.reading.accesses import Access, Walker
from codemods.reading.facts import Effects, RecordFacts
from codemods.reading.index import TreeIndex


def effects_of(index: TreeIndex, facts: RecordFacts) -> dict[str, Effects]:
    """Return the effects of the record's methods by name, and of functions that are handed it as ``file:name``.

    A method that several classes define has the effects of all of them.
    """
    walker = Walker(index, facts)
    found: dict[str, Effects] = {}
    for place in sorted(facts.classes):
        module = index.module(place.file)
        for name in module.functions if module else ():
            owner, _, method = name.rpartition(".")
            if owner == place.name:
                _add(found, method, walker.function(place._replace(name=name)))
    for place in sorted(facts.passed):
        _add(found, f"{place.file}:{place.name}", walker.function(place))
    return found


def _add(found: dict[str, Effects], name: str, events: list[Access]) -> None:
    before = found.get(name, Effects(frozenset(), frozenset(), False))
    found[name] = Effects(
        before.reads | {event.field for event in events if event.kind == "read"},
        before.writes | {event.field for event in events if event.kind == "write"},
        before.unknown or any(event.kind == "handed" for event in events),
        before.behind | {event.field for event in events if event.kind == "read" and event.through},
    )
