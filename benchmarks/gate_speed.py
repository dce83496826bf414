"""How much the gate costs over the bare loop, and what a second job brings: ratios, measured in one run.

    python benchmarks/gate_speed.py [A B] [--cases N] [--rounds N] [--seed N]

The bare loop is the floor: each subject's process resolves the same pre-made cases in a ``for`` loop and does
nothing else; loading the trees, making the cases and sending them are not counted. The gate is counted whole: from
nothing, through loading, making cases, comparing and minimising, to the verdict. All run on the same cores; one
job keeps at most one process busy at a time.

What two cores bring is the machine's say too: where they share a cache, a bus or a neighbour, two programs that know
nothing of one another slow each other down. So each round also runs two bare loops at once, on half the cases each.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.engine.campaign import Budget, Request, run_campaign
from harness.engine.result.events import Progressed
from harness.engine.search.pair import Pair
from harness.engine.search.planning import make_plan
from harness.generate.cases import CaseMaker
from harness.subjects.open import open_spec
from harness.subjects.spec import SubjectSpec
from harness.world.case import Case


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="*", default=["sglang==0.5.14#slice", "sglang==0.5.15#slice"])
    parser.add_argument("--cases", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    first, second = (
        open_spec(text, answers=None, python=sys.executable, case_seconds=10, memory_mib=2048, cwd=Path.cwd())
        for text in options.subjects
    )
    bare, halves, one, two, first_case = [], [], [], [], []
    for number in range(options.rounds):
        seconds, seconds_of_halves = bare_loops(first, second, options.seed, options.cases)
        bare.append(seconds)
        halves.append(seconds_of_halves)
        seconds, until_first = gate(first, second, options.seed, options.cases, 1)
        one.append(seconds)
        seconds, until_first_two = gate(first, second, options.seed, options.cases, 2)
        two.append(seconds)
        first_case += [until_first, until_first_two]
        print(
            f"round {number + 1}: bare {bare[-1]:.2f} s, in two halves at once {halves[-1]:.2f} s, "
            f"gate on one job {one[-1]:.2f} s, on two {two[-1]:.2f} s",
            flush=True,
        )
    floor, split, alone, shared = (statistics.median(times) for times in (bare, halves, one, two))
    print(
        f"subjects            {first.label} against {second.label}, {options.cases} cases, median of {options.rounds}"
    )
    print(f"bare loop           {options.cases / floor:.0f} cases/s")
    print(f"two loops at once   {floor / split:.2f} times as fast as one")
    print(f"gate, one job       {options.cases / alone:.0f} cases/s, {alone / floor:.2f} times the bare loop's time")
    print(f"gate, two jobs      {options.cases / shared:.0f} cases/s, {alone / shared:.2f} times as fast as one job")
    print(f"first case compared {max(first_case):.2f} s after the start at the latest (wheels cached)")


def bare_loops(first: SubjectSpec, second: SubjectSpec, seed: int, count: int) -> tuple[float, float]:
    """Return the seconds the gate's cases take both subjects and nothing else, unrecorded: all in one loop each.

    And in two loops at once of half the cases each, by processes of their own.
    """
    first, second = (dataclasses.replace(spec, record=False) for spec in (first, second))
    bare = Request(first, second, budget=Budget(cases=count))
    with contextlib.ExitStack() as stack:
        pairs = [stack.enter_context(Pair(bare.first, bare.second)) for _ in range(2)]
        plan = make_plan(bare, pairs[0]).plan
        pairs[1].load()
        cases = list(CaseMaker(plan.domains, plan.launches).cases(seed, count))
        whole = _loop(pairs[0], cases)
        with ThreadPoolExecutor(2) as threads:
            return whole, max(threads.map(_loop, pairs, (cases[::2], cases[1::2])))


def _loop(pair: Pair, cases: list[Case]) -> float:
    return pair.first.loop(cases) + pair.second.loop(cases)


def gate(first: SubjectSpec, second: SubjectSpec, seed: int, count: int, jobs: int) -> tuple[float, float]:
    """Return the seconds a whole gate takes, and until its first cases were compared."""
    started, first_compared = time.perf_counter(), 0.0

    def listen(event: object) -> None:
        nonlocal first_compared
        if isinstance(event, Progressed) and not first_compared:
            first_compared = time.perf_counter() - started

    request = Request(first, second, budget=Budget(cases=count), seed=seed, jobs=jobs)
    run_campaign(request, listen)
    return time.perf_counter() - started, first_compared


if __name__ == "__main__":
    main()
