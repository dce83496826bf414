"""The port against the release that it ports: every difference, by bucket, with its smallest case; and both speeds.

    python benchmarks/port_against_release.py [--cases N] [--seed N] [--release sglang==0.5.14#slice]

Cases set only what both have. Two refusals agree when their types do. The times are of the same cases in one run:
of the release, the loop in its own process and nothing else; of the port, ``legacy.resolve`` in a loop.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec

import legacy
from harness.engine.compare import Difference, differences
from harness.generate.cases import CaseMaker
from harness.generate.domains import Domains, domains_of
from harness.subjects.open import open_spec
from harness.subjects.profile import entry_of
from harness.subjects.tree import TreeSubject
from harness.world.case import Case
from harness.world.contract import encode_case
from harness.world.profiles import real_launches
from legacy import arguments


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--release", default="sglang==0.5.14#slice")
    options = parser.parse_args()
    spec = open_spec(
        options.release, answers=None, python=sys.executable, case_seconds=10, memory_mib=2048, cwd=Path.cwd()
    )
    with TreeSubject(spec) as release:
        maker = CaseMaker(shared_domains(release), launch_cases(release))
        seen = compare(release, maker.cases(options.seed, options.cases))
        report(seen, options.seed)
        print(speed(release, list(maker.cases(options.seed + 1, 20_000))))


def shared_domains(release: TreeSubject) -> Domains:
    """Return the inputs of the release that the port has too."""
    described = release.describe()
    profile = release.spec.profile
    fields = {name: spec for name, spec in described.fields.items() if name in arguments()}
    mine = msgspec.structs.replace(described, fields=fields)
    return domains_of(mine, mine, profile["values"], profile["not_drawn"], entry_of(profile, sliced=True))


def launch_cases(release: TreeSubject) -> list[Case]:
    """Return the real launches, parsed by the release."""
    return [release.launch_case(launch) for launch in real_launches()]


class Seen:
    """What a comparison saw."""

    def __init__(self) -> None:
        self.cases = 0
        self.refused = 0
        self.architectures: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.smallest: dict[str, tuple[Difference, Case]] = {}


def compare(release: TreeSubject, cases: Iterator[Case]) -> Seen:
    """Return the differences over ``cases``."""
    seen = Seen()
    while batch := list(islice(cases, 2000)):
        for case, theirs in zip(batch, release.outcomes(batch), strict=True):
            ours = legacy.resolve(case)
            seen.cases += 1
            seen.refused += ours.error is not None
            seen.architectures.update(case.model.architectures)
            for difference in differences(theirs, ours, messages=False):
                key = difference.key()
                seen.counts[key] += 1
                if key not in seen.smallest or size(case) < size(seen.smallest[key][1]):
                    seen.smallest[key] = (difference, case)
    return seen


def size(case: Case) -> int:
    return len(encode_case(case))


def report(seen: Seen, seed: int) -> None:
    for key, count in seen.counts.most_common():
        difference, case = seen.smallest[key]
        print(f"{count:7} {difference.kind} {difference.name}: {difference.first!r} -> {difference.second!r}")
        print(f"        {encode_case(case).decode()}")
    print(
        f"{seen.cases} cases of seed {seed}, {seen.refused} refused, {len(seen.architectures)} architectures:"
        f" {len(seen.counts)} kinds of difference in {seen.counts.total()} places"
    )


def speed(release: TreeSubject, cases: list[Case]) -> str:
    theirs = min(release.loop(cases) for _ in range(3))
    ours = min(resolve_all(cases) for _ in range(3))
    return (
        f"{len(cases)} cases: release {theirs:.3f} s, port {ours:.3f} s, ratio {ours / theirs:.2f} (best of 3 each)"
    )


def resolve_all(cases: list[Case]) -> float:
    started = time.perf_counter()
    for case in cases:
        legacy.resolve(case)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
