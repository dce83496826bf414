"""Prints the result of an audit for a person, and returns it as JSON.

The text shows each missed mutant as a diff, and then the counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from harness.audit.mutants.equivalents import Equivalents, Fault, entry_text, faults_of
from harness.audit.mutants.package import MutablePackage
from harness.audit.reading.mutant import Mutant
from harness.audit.run.judge import Result
from harness.common.errors import visible

FORMAT = "stackproof.audit/1"


@dataclass(frozen=True)
class Audited:
    """Everything that an audit found.

    ``results`` has a result for each mutant that was tried, and ``longer`` another one for each survivor, from a
    search with further cases. ``total`` is the number of mutants that the tried ones were drawn from.
    """

    package: MutablePackage
    results: Sequence[Result]
    longer: Sequence[Result]
    total: int
    equivalents: Equivalents

    @cached_property
    def faults(self) -> dict[Mutant, Fault]:
        """The fault of each mutant, which is its name without line numbers."""
        return dict(faults_of(self.package, (result.mutant for result in self.results)))

    def reason(self, mutant: Mutant) -> str | None:
        """The reason why a mutant is listed as equivalent, None if it is not listed."""
        return self.equivalents.reason(self.faults[mutant])

    @cached_property
    def by_mutant(self) -> dict[Mutant, Result]:
        """The result of each mutant."""
        return {result.mutant: result for result in self.results}

    @cached_property
    def missed(self) -> list[Result]:
        """The survivors that are not listed as equivalent."""
        return [found for found in self.longer if self.reason(found.mutant) is None]

    @cached_property
    def stale(self) -> list[Mutant]:
        """The mutants that are listed as equivalent although some case shows a difference."""
        shown = [result.mutant for result in self.results if result.catch is not None]
        shown += [found.mutant for found in self.longer if found.catch is not None]
        return [mutant for mutant in shown if self.reason(mutant) is not None]

    @property
    def passed(self) -> bool:
        """Whether exactly the mutants listed as equivalent survived."""
        return not self.missed and not self.stale


def say_audit(audited: Audited, say: Callable[[str], object]) -> None:
    """Print the survivors that are not listed as equivalent, then the counts; ``say`` prints each line."""
    for found in audited.missed:
        say(audited.package.diff(found.mutant).rstrip("\n"))
        said = [f"not caught by {_cases(audited.by_mutant[found.mutant])}", *_longer(found)]
        say(f"  {'; '.join(said)}")
        say(entry_text(audited.faults[found.mutant]))
        say("")
    for mutant in audited.stale:
        say(f"stale: {visible(mutant.identity())} is listed as equivalent, and is caught: drop its entry")
    results = audited.results
    caught = [result.catch for result in results if result.catch is not None]
    if caught:
        by = Counter(catch.by for catch in caught).most_common()
        say(f"caught by {', '.join(f'{name} {count}' for name, count in by)}")
        needed = sorted(catch.cases + 1 for catch in caught)
        say(f"cases needed: median {needed[len(needed) // 2]}, most {needed[-1]}")
    operators = Counter(result.mutant.operator for result in results)
    left = Counter(found.mutant.operator for found in audited.longer)
    say("by operator: " + ", ".join(f"{name} {count - left[name]}/{count}" for name, count in operators.items()))
    functions = {(fault.file, fault.function) for fault in audited.faults.values()}
    cases = max((result.cases for result in results), default=0)
    say(
        f"{len(results)} of {audited.total} mutants in {len(functions)} functions, up to {cases} cases: "
        f"{len(caught)} caught, {len(audited.longer) - len(audited.missed)} listed as equivalent, "
        f"{len(audited.missed)} not caught"
    )


def audit_document(audited: Audited) -> bytes:
    """Return the audit as indented JSON with a line break at the end, without times, which no run repeats."""
    longer = {found.mutant: found for found in audited.longer}
    body = {
        "format": FORMAT,
        "package": audited.package.name,
        "mutants": audited.total,
        "stale": [msgspec.to_builtins(audited.faults[mutant]) for mutant in audited.stale],
        "results": [_plain(result, longer.get(result.mutant), audited) for result in audited.results],
    }
    return msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n"


def _plain(result: Result, longer: Result | None, audited: Audited) -> dict[str, Any]:
    mutant = result.mutant
    verdict = "caught" if result.catch is not None else "missed"
    catch = msgspec.to_builtins(result.catch, enc_hook=str)
    if catch is not None and catch["difference"] is not None:
        # Version 1 of the format has no such key: the kinds of failures are in the difference's name.
        del catch["difference"]["failures"]
    if longer is not None and audited.reason(mutant) is not None:
        verdict = "equivalent"
    return {
        "verdict": verdict,
        "mutant": msgspec.to_builtins(mutant),
        "fault": msgspec.to_builtins(audited.faults[mutant]),
        "cases": result.cases,
        "reached": result.reached,
        "catch": catch,
        "diff": None if longer is None else audited.package.diff(mutant),
        "reason": audited.reason(mutant),
        "longer": None if longer is None else next(_longer(longer), None),
    }


def _cases(result: Result) -> str:
    if result.reached == result.cases:
        return f"{result.cases} cases"
    return f"{result.cases} cases, of which {result.reached or 'none'} reached its block"


def _longer(found: Result) -> Iterator[str]:
    """Yield a sentence that says what the longer search found; nothing if it had no cases."""
    if found.catch is not None:
        shown = f"{visible(found.catch.detail)} (case {found.catch.case})"
        yield f"{found.catch.cases + 1} further cases show it: {shown}"
    elif found.cases:
        yield f"probably equivalent, {found.cases} further cases show nothing"
