"""How long one case takes in the port, its successor and the releases, or in SUBJECTs: ratios of one run.

    python benchmarks/resolution_speed.py [SUBJECT SUBJECT ...] [--cases N] [--rounds N] [--seed N]

With SUBJECTs, such as a tree and what a stack made of it, each is compared with the first.

Each subject resolves the same cases in a process of its own and does nothing else, unrecorded; the subjects take
turns, and of each the best round counts, so that what else the machine does counts little.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys

from harness.engine.campaign import Budget, Request
from harness.engine.search.pair import Pair
from harness.engine.search.planning import make_plan
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
    parser.add_argument("subjects", metavar="SUBJECT", nargs="*", default=SUBJECTS)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if len(options.subjects) < 2:
        parser.error("name two subjects or more: each is compared with the first")
    specs = {name: spec(name) for name in options.subjects}
    pairs = tuple((name, options.subjects[0]) for name in options.subjects[1:])
    given = options.subjects is not SUBJECTS
    # The cases of a gate, of the port where none is given: they set only what both have.
    between = options.subjects[:2] if given else RATIOS[0]
    request = Request(specs[between[0]], specs[between[1]], budget=Budget(cases=options.cases))
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
    for first, second in pairs if given else RATIOS:
        print(f"  {first} takes {best[first] / best[second]:.2f} times as long as {second}")


def spec(name: str) -> SubjectSpec:
    return open_spec(name, answers=None, python=sys.executable, case_seconds=10, memory_mib=2048)


if __name__ == "__main__":
    main()
