"""Finds the slots of a resolution, in order, and what each reads and writes.

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
"""How many handlers a tuple must name at least to count as the list of the handlers."""


class ResolutionSlot(NamedTuple):
    """One slot of a resolution."""

    number: int
    """The number of the slot; the first is 1."""
    name: str
    file: str
    line: int
    run: str | None = None
    """The method that the slot runs, if it is an element of a tuple of handlers."""
    statement: ast.stmt | None = None
    """The statement that the slot is, if it is one of the entry method."""


@dataclass(frozen=True)
class Timeline:
    """The slots of one tree, and the accesses in them in the order of evaluation."""

    slots: tuple[ResolutionSlot, ...]
    accesses: tuple[Access, ...]

    def of(self, fields: Iterable[str], kind: str = "") -> list[Access]:
        """Return the accesses of ``fields``, of one kind or of all.

        Those of the kind ``handed`` count for every field, since whatever gets the record may access any.
        """
        wanted = set(fields)
        return [
            access
            for access in self.accesses
            if (access.field in wanted or access.kind == "handed") and kind in ("", access.kind)
        ]

    def slot(self, name: str) -> ResolutionSlot:
        """Return the slot with the name or number ``name``; raises UsageError, which suggests the nearest name."""
        for slot in self.slots:
            if name in (slot.name, str(slot.number)):
                return slot
        raise UsageError(f"there is no slot {name!r}{hint(name, [slot.name for slot in self.slots])}")


def read_timeline(index: TreeIndex, facts: RecordFacts, entry: str = "__post_init__") -> Timeline:
    """Return the slots of a tree, and what they read and write.

    Raises UsageError if the record has no method ``entry`` and no module of its package lists its handlers.
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
    """Yield a slot for each statement of the entry method, without imports and the docstring."""
    function, entry = index.function(home), home.name.rpartition(".")[2]
    number = 0
    for item in function.body if function else ():
        is_text = isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)
        if not isinstance(item, IMPORTS) and not is_text:
            number += 1
            called = called_name(item)
            # Slots that declare would all be called ``declare``: their name is the entry method and the line.
            name = called if called and called != DECLARE else f"{entry}:{item.lineno}"
            yield ResolutionSlot(number, name, home.file, item.lineno, None, item)


def _from_tuple(index: TreeIndex, facts: RecordFacts) -> tuple[ResolutionSlot, ...]:
    """Return a slot for each element of the first module-level tuple that names methods of the record."""
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
