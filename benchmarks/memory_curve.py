"""How much memory a long gate takes: the resident memory of all its processes, while the cases go by.

    python benchmarks/memory_curve.py [A B] [--cases N] [--jobs N] [--seed N] [--points N] [--csv FILE]

Counted are this process, the jobs and the subjects' processes under them, each page by its share of those that have
it (``Pss`` of Linux), after every N-th part of the cases. Nothing but buckets, kept cases and what was covered should
grow, and these end.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from pathlib import Path

from harness.engine.campaign import Budget, Request, run_campaign
from harness.engine.result.events import Event, Progressed
from harness.subjects.open import open_spec


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="*", default=["legacy", "declarative"])
    parser.add_argument("--cases", type=int, default=5_000_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--points", type=int, default=20)
    parser.add_argument("--csv", type=Path, default=None)
    options = parser.parse_args()
    first, second = (
        open_spec(text, answers=None, python=sys.executable, case_seconds=10, memory_mib=2048, cwd=Path.cwd())
        for text in options.subjects
    )
    curve = Curve(options.cases, options.points)
    budget = Budget(cases=options.cases)
    run_campaign(Request(first, second, budget=budget, seed=options.seed, jobs=options.jobs), curve)
    if options.csv is not None:
        with options.csv.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(("cases", "seconds", "parent_mib", "children_mib"))
            writer.writerows(curve.rows)


class Curve:
    """Prints a row after every part of the cases."""

    def __init__(self, cases: int, points: int) -> None:
        self._step = max(1, cases // points)
        self._next = 1
        self._done = 0
        self._since = time.monotonic()
        self.rows: list[tuple[int, float, float, float]] = []

    def __call__(self, event: Event) -> None:
        if not isinstance(event, Progressed):
            return
        self._done += event.counts.cases
        if self._done < self._next:
            return
        self._next = (self._done // self._step + 1) * self._step
        parent, children = pss_mib(os.getpid()), sum(map(pss_mib, descendants(os.getpid())))
        self.rows.append((self._done, round(time.monotonic() - self._since, 1), round(parent, 1), round(children, 1)))
        print(
            f"{self._done:>9} cases  {self.rows[-1][1]:>7.1f} s  {parent:6.1f} MiB here, {children:6.1f} MiB in the "
            "processes under it",
            flush=True,
        )


def descendants(root: int) -> list[int]:
    """Return the ids of all processes under ``root``."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:  # it has ended
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found, level = [], [root]
    while level:
        level = [child for one in level for child in parents.get(one, ())]
        found += level
    return found


def pss_mib(process: int) -> float:
    """Return the resident memory of a process, its share of shared pages, in MiB; 0 when it has ended."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) / 1024


if __name__ == "__main__":
    main()
