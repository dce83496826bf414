"""The slots of a resolution in order, and what each reads and writes.

A slot is a statement of the record's entry method, or an element of a tuple that names the record's handlers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from codemods.reading.accesses import Access, AccessReader
from codemods.reading.callees import Callees, files_naming_record, methods_named
from codemods.reading.facts import RecordFacts
from codemods.reading.index import Definition, TreeIndex
from codemods.runtime.names import DECLARE
from harness.common.errors import UsageError, hint
from harness.source.calls import called_name
from harness.source.nodes import IMPORTS, texts_in

_FEWEST = 2


class ResolutionSlot(NamedTuple):
    """One slot: its number from 1, its name, where it is.

    ``run`` is the method it calls as a whole; None for a statement of the entry method, which is ``statement``.
    """

    number: int
    name: str
    file: str
    line: int
    run: str | None = None
    statement: ast.stmt | None = None


@dataclass(frozen=True)
class Timeline:
    """The slots of one tree and what happens in them; ``accesses`` are in the order of evaluation."""

    slots: tuple[ResolutionSlot, ...]
    accesses: tuple[Access, ...]

    def of(self, fields: Iterable[str], kind: str = "") -> list[Access]:
        """Return the accesses of ``fields``, of one kind or of all; what is handed on counts for every field."""
        wanted = set(fields)
        return [
            access
            for access in self.accesses
            if (access.field in wanted or access.kind == "handed") and kind in ("", access.kind)
        ]

    def slot(self, name: str) -> ResolutionSlot:
        """Return the slot called ``name``, or with that number; raises UsageError with the nearest name."""
        for slot in self.slots:
            if name in (slot.name, str(slot.number)):
                return slot
        raise UsageError(f"there is no slot {name!r}{hint(name, [slot.name for slot in self.slots])}")


def read_timeline(index: TreeIndex, facts: RecordFacts, entry: str = "__post_init__") -> Timeline:
    """Return what the slots of a tree read and write.

    Raises UsageError when the record has no method ``entry`` and no module of its package lists its handlers.
    """
    callees = Callees(index, facts)
    reader = AccessReader(index, facts, callees)
    home = callees.method(entry)
    slots = tuple(_statements(index, home) if home else ()) or _from_tuple(index, facts)
    if not slots:
        raise UsageError(
            f"{facts.record.name} has no method {entry!r}, and no tuple of its package lists its handlers: "
            "name the method that calls them"
        )
    accesses: list[Access] = []
    for slot in slots:
        if slot.statement is not None and home is not None:
            found = reader.statement(home, slot.statement)
        else:
            found = reader.function(callees.method(slot.run) if slot.run else None)
        accesses += [access._replace(slot=slot.number) for access in found]
    return Timeline(slots, tuple(accesses))


def _statements(index: TreeIndex, home: Definition) -> Iterator[ResolutionSlot]:
    """Yield a slot for each statement of the entry method that does something."""
    function, entry = index.function(home), home.name.rpartition(".")[2]
    number = 0
    for item in function.body if function else ():
        is_text = isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)
        if not isinstance(item, IMPORTS) and not is_text:
            number += 1
            called = called_name(item)
            # Every declaration would have the same name: its line tells them apart.
            name = called if called and called != DECLARE else f"{entry}:{item.lineno}"
            yield ResolutionSlot(number, name, home.file, item.lineno, None, item)


def _from_tuple(index: TreeIndex, facts: RecordFacts) -> tuple[ResolutionSlot, ...]:
    """Return the slots of the first module-level tuple that names methods of the record."""
    for path in files_naming_record(index, facts):
        for statement in index.read(path).tree.body:
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, ast.Tuple):
                named = [(item, methods_named(item, facts.record.name)) for item in statement.value.elts]
                slots = [
                    ResolutionSlot(number, (texts_in(ast.walk(item)) or methods)[0], path, item.lineno, methods[0])
                    for number, (item, methods) in enumerate((pair for pair in named if pair[1]), 1)
                ]
                if len(slots) >= _FEWEST:
                    return tuple(slots)
    return ()
