"""Lifts guarded declarations out of a handler into passes and providers over a view, run where they stood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import libcst as cst

from codemods.frame.codemod import Change, Codemod
from codemods.lift.passes import PROVIDE, PROVIDES, RUN, Names
from codemods.lift.walk import Lifter
from codemods.reading.facts import RecordFacts
from codemods.reading.source import SourceFile, line_limit
from codemods.runtime.names import DECLARE
from codemods.writing.imports import imported_as, name_for, with_import, without_import


@dataclass
class LiftWrites(Codemod):
    """Makes each guarded region that declares one of ``fields``, and does nothing else to the record, a pass.

    The pass reads a view, in which its own declarations lie on top; they are applied when it ends. Locals that it
    needs are handed to it as they are. Regions that follow one another become one pass. A region under a test of the
    model's architecture becomes a provider for those architectures, where no other branch of its chain can be taken
    for one of them. What is not lifted is listed with the reason; `record_writes` comes first, for an assignment
    cannot be lifted.

    With ``force``, also what would make a pass or provider is lifted of which nothing shows that it does the same.
    """

    summary: ClassVar[str] = (
        "guarded declarations become passes and providers over a read-only view, at the same place"
    )

    facts: RecordFacts
    fields: tuple[str, ...]
    force: bool = False

    def __post_init__(self) -> None:
        """Raises UsageError for a name that is neither a field nor assigned in the record's methods."""
        for name in self.fields:
            self.facts.check_written(name)

    def words(self) -> tuple[str, ...]:
        """Return the name of the function that declares."""
        return (DECLARE, f"_{DECLARE}")

    def concerns(self, source: SourceFile) -> bool:
        """Return whether the file declares through the runtime."""
        return source.path != self.facts.runtime_file and any(name.encode() in source.data for name in self.fields)

    def apply(self, module: cst.Module, source: SourceFile) -> Change:
        """Return the module with its guarded declarations in passes and providers; what stays is listed."""
        runtime = self.facts.runtime_module
        declare = imported_as(module, runtime, DECLARE)
        if declare is None:
            return Change(module)
        names = Names({name: name_for(module, source.data, runtime, name) for name in (RUN, PROVIDE, PROVIDES)})
        limit = line_limit(module.code)
        walk = Lifter(
            module,
            source,
            self.facts,
            frozenset(self.fields),
            names,
            declare=declare,
            limit=limit,
            force=self.force,
        )
        changed = module.visit(walk)
        if not walk.count:
            return Change(module, 0, walk.left())
        for offered in sorted(names.used):
            changed = with_import(changed, runtime, offered, names.known[offered], limit=limit)
        changed = without_import(changed, runtime, declare)
        return Change(changed, walk.count, walk.left())
