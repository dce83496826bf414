"""Mutants that no operator made."""

from __future__ import annotations

from harness.audit.reading.mutant import Mutant


def mutant_of(file: str, text: str, before: str, after: str = "x") -> Mutant:
    """Return the mutant of a file with that text in which the first ``before`` becomes ``after``."""
    start = text.index(before)
    return Mutant(
        file=file,
        line=text.count("\n", 0, start) + 1,
        column=start - text.rfind("\n", 0, start),
        operator="by hand",
        role="other",
        before=before,
        after=after,
    )
