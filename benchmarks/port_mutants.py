"""Faults seeded into the port, one at a time: which of them the comparison with the release catches.

    python benchmarks/port_mutants.py [--mutants N] [--cases N] [--seed N] [--against sglang==0.5.14#slice]
                                      [--roles value,guard] [--long N] [--jobs N] [--results FILE]

Mutants are drawn at random from those of the values that the port writes and the conditions it has. The cases are
those of the seed, as ``port_against_release.py`` makes them; ``legacy/ledger.toml`` says which differences are meant.
Survivors are shown as diffs, and run over ``--long`` further cases of other seeds.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from port_against_release import launch_cases, shared_domains

import legacy
from harness.audit.audit import Longer, run_audit, search_longer
from harness.audit.judge import Result
from harness.audit.mutant import Role
from harness.audit.mutants import Package
from harness.audit.results import Results
from harness.audit.trial import Trial, explained_by
from harness.engine.ledger import load_ledger
from harness.generate.cases import CaseMaker
from harness.subjects.open import open_spec
from harness.subjects.tree import TreeSubject

ROUND = 20_000
LEDGER = Path(legacy.__file__).parent / "ledger.toml"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--against", default="sglang==0.5.14#slice")
    parser.add_argument("--roles", default="value,guard", help=f"of {', '.join(get_args(Role))}")
    parser.add_argument("--long", type=int, default=0, help="further cases for the survivors")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--results", type=Path, help="keep results here, and go on from those that are there")
    options = parser.parse_args()
    package = Package(Path(legacy.__file__).parent)
    mutants = package.mutants(roles=options.roles.split(","))
    sample = package.sample(mutants, options.mutants, options.seed)
    results = Results(options.results)
    spec = open_spec(
        options.against, answers=None, python=sys.executable, case_seconds=10, memory_mib=2048, cwd=Path.cwd()
    )
    with TreeSubject(spec) as release:
        original = Original(release)
        trial = original.trial(options.seed, options.cases)
        started = time.perf_counter()
        judged = run_audit(package, sample, trial, jobs=options.jobs, results=results)
        took = time.perf_counter() - started
        survivors = [result.mutant for result in judged if result.catch is None]
        longer = search_longer(
            package, survivors, original.trials(options.seed + 1, options.long), jobs=options.jobs, results=results
        )
    show(package, judged, longer)
    print(
        f"{len(judged)} of {len(mutants)} mutants, {options.cases} cases of seed {options.seed}: "
        f"{len(judged) - len(survivors)} caught, {len(survivors)} not, in {took:.0f} s"
    )


class Original:
    """The release: makes the cases that both have the inputs of, and what it makes of them."""

    def __init__(self, release: TreeSubject) -> None:
        resolved = release.describe().resolved
        self._names = tuple(name for name in resolved if name in (*legacy.FIELDS, *legacy.STATE))
        release.choose(self._names)
        self._release = release
        self._ledger = load_ledger(LEDGER).between(release.spec.name, "legacy")
        self._maker = CaseMaker(shared_domains(release), launch_cases(release))

    def trial(self, seed: int, count: int) -> Trial:
        """Return the first ``count`` cases of a seed."""
        cases = list(self._maker.cases(seed, count))
        return Trial(
            cases,
            self._release.resolve(cases),
            self._names,
            messages=False,
            explained=explained_by(self._ledger),
            rule=LEDGER.read_text(encoding="utf-8"),
        )

    def trials(self, seed: int, count: int) -> Iterator[Trial]:
        """Yield ``count`` cases of this and the following seeds, so many at a time that they fit in memory."""
        while count > 0:
            yield self.trial(seed, min(ROUND, count))
            seed, count = seed + 1, count - ROUND


def show(package: Package, judged: list[Result], longer: list[Longer]) -> None:
    for found in longer:
        print(package.diff(found.mutant), end="")
        if found.catch is not None:
            print(
                f"    a longer search catches it after {found.cases} cases: {found.catch.case}: {found.catch.detail}"
            )
        elif found.cases:
            print(f"    probably equivalent: {found.cases} further cases show nothing")
        print()
    caught = [result.catch for result in judged if result.catch is not None]
    print(
        "caught by", ", ".join(f"{by} {count}" for by, count in Counter(catch.by for catch in caught).most_common())
    )
    needed = sorted(catch.cases + 1 for catch in caught)
    if needed:
        print(f"cases needed: median {needed[len(needed) // 2]}, most {needed[-1]}")


if __name__ == "__main__":
    main()
