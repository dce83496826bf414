"""An audit for a person at a terminal: each survivor as a diff, then what caught the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from harness.audit.audit import Longer
from harness.audit.judge import Result
from harness.audit.mutants import Package
from harness.errors import visible


def say_audit(
    package: Package,
    results: Sequence[Result],
    longer: Sequence[Longer],
    total: int,
    say: Callable[[str], object],
) -> None:
    """Print the survivors of ``results`` with what a longer search made of them, then the counts, through ``say``."""
    for found in longer:
        say(package.diff(found.mutant).rstrip("\n"))
        say(f"  {_words(found)}")
        say("")
    caught = [result.catch for result in results if result.catch is not None]
    if caught:
        by = Counter(catch.by for catch in caught).most_common()
        say(f"caught by {', '.join(f'{name} {count}' for name, count in by)}")
        needed = sorted(catch.cases + 1 for catch in caught)
        say(f"cases needed: median {needed[len(needed) // 2]}, most {needed[-1]}")
    operators = Counter(result.mutant.operator for result in results)
    missed = Counter(found.mutant.operator for found in longer)
    say("by operator: " + ", ".join(f"{name} {count - missed[name]}/{count}" for name, count in operators.items()))
    cases = max((result.cases for result in results), default=0)
    say(f"{len(results)} of {total} mutants, {cases} cases: {len(caught)} caught, {len(longer)} not")


def _words(found: Longer) -> str:
    if found.catch is not None:
        return (
            f"not caught; {found.catch.cases + 1} further cases show it: {visible(found.catch.detail)} "
            f"(case {found.catch.case})"
        )
    if found.cases:
        return f"not caught; probably equivalent, {found.cases} further cases show nothing"
    return "not caught"
