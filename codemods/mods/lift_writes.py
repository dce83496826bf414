"""Moves declarations under a condition out of a handler, into passes and providers that run at the same place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import libcst as cst

from codemods.frame.codemod import Change, FieldCodemod, StepFields
from codemods.lift.walk import Lifter
from codemods.reading.facts import RecordFacts
from codemods.reading.source import SourceFile
from codemods.runtime.names import DECLARE
from codemods.writing.imports import imported_as


@dataclass
class LiftWrites(FieldCodemod):
    """Makes a pass of each guarded region that declares one of ``fields`` and does nothing else to the record.

    A guarded region is one or more neighbouring statements with a condition or a loop among them. The pass reads a
    view of the record with its own declarations on top; they are applied when it ends. It gets the locals that it
    needs as arguments. A branch that tests the model's architecture becomes a provider for the architectures
    that it names, if no other branch of its chain can be taken for one of them. What is not lifted is listed with the
    reason. `record_writes` must run before, because an assignment cannot be lifted.

    With ``force``, it also lifts a region if nothing shows that its pass or provider will do the same.
    """

    summary: ClassVar[str] = (
        "guarded declarations become passes and providers over a read-only view, at the same place"
    )

    force: bool = False

    @classmethod
    def arguments(cls, facts: RecordFacts, step: StepFields, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return all fields that have moved: a region that writes several can be lifted once the last has moved."""
        return {"fields": step.moved}

    def words(self) -> tuple[str, ...]:
        """Return the name of the function that declares."""
        return (DECLARE, f"_{DECLARE}")

    def concerns(self, source: SourceFile) -> bool:
        """Return whether the file mentions one of the fields, and is not the runtime itself."""
        return source.path != self.facts.runtime_file and any(name.encode() in source.data for name in self.fields)

    def apply(self, module: cst.Module, source: SourceFile) -> Change:
        """Return the module with its guarded declarations in passes and providers; what stays is listed."""
        declare = imported_as(module, self.facts.runtime_module, DECLARE)
        return Change(module) if declare is None else Lifter(module, source, self, declare, self.force).change()
