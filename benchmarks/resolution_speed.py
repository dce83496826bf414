"""How long one case takes in the port, its successor and the releases: ratios of one run.

    python benchmarks/resolution_speed.py [--cases N] [--rounds N] [--seed N]

Each subject resolves the same cases in a process of its own and does nothing else, unrecorded; the subjects take
turns, and of each the best round counts, so that what else the machine does counts little.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys

from harness.engine.campaign import Budget, Request
from harness.engine.pair import Pair
from harness.engine.planning import make_plan
from harness.generate.cases import CaseMaker
from harness.subjects.open import open_spec, open_subject
from harness.subjects.spec import SubjectSpec

SUBJECTS = ("legacy", "declarative", "sglang==0.5.14#slice", "sglang==0.5.15#slice")
RATIOS = (
    ("legacy", "sglang==0.5.14#slice"),
    ("declarative", "legacy"),
    ("sglang==0.5.15#slice", "sglang==0.5.14#slice"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    specs = {name: spec(name) for name in SUBJECTS}
    # The cases of a gate of the port: they set only what both have.
    request = Request(specs["legacy"], specs["sglang==0.5.14#slice"], budget=Budget(cases=options.cases))
    with Pair(request.first, request.second) as pair:
        plan = make_plan(request, pair).plan
    cases = list(CaseMaker(plan.domains, plan.launches).cases(options.seed, options.cases))
    opened = {name: open_subject(dataclasses.replace(spec, record=False)) for name, spec in specs.items()}
    best: dict[str, float] = {}
    try:
        for _ in range(options.rounds):
            for name, subject in opened.items():
                best[name] = min(best.get(name, float("inf")), subject.loop(cases))
    finally:
        for subject in opened.values():
            subject.close()
    print(f"{len(cases)} cases of seed {options.seed}, best of {options.rounds} rounds")
    for name, seconds in best.items():
        print(f"  {name:24} {seconds / len(cases) * 1e6:7.1f} us a case")
    for first, second in RATIOS:
        print(f"  {first} takes {best[first] / best[second]:.2f} times as long as {second}")


def spec(name: str) -> SubjectSpec:
    return open_spec(name, answers=None, python=sys.executable, case_seconds=10, memory_mib=2048)


if __name__ == "__main__":
    main()
