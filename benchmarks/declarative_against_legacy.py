"""The successor against the port: every difference, message and environment included, and both speeds.

    python benchmarks/declarative_against_legacy.py [--cases N] [--focused N] [--seed N] [--release SUBJECT]

The release only says what to generate; ``--focused`` counts the aimed cases of each family. The times are of 20,000
cases in one process: of each chunk the best of some repetitions, in turns, so that what else the machine does counts
little.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from port_against_release import launch_cases, shared_domains

import declarative
import legacy
from harness.generate.cases import CaseMaker
from harness.subjects.open import open_spec
from harness.subjects.subject import TreeSubject
from harness.world.case import Case, Outcome
from harness.world.contract import encode_case

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "legacy"))
from focused import focused_cases

Resolve = Callable[[Case], Outcome]

_CHUNK = 500
_MOST_SHOWN = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--focused", type=int, default=1_500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--release", default="sglang==0.5.14#slice")
    options = parser.parse_args()
    spec = open_spec(
        options.release, answers=None, python=sys.executable, case_seconds=10, memory_mib=2048, cwd=Path.cwd()
    )
    with TreeSubject(spec) as release:
        maker = CaseMaker(shared_domains(release), launch_cases(release))
    print(f"generated, seed {options.seed}: {compared(maker.cases(options.seed, options.cases))}")
    print(f"focused, seed {options.seed}: {compared(focused_cases(options.seed, options.focused))}")
    print(speed(list(maker.cases(options.seed + 1, 20_000)), options.repetitions))


def told(outcome: Outcome) -> tuple[Any, ...]:
    """Return all of an outcome that the two have to agree on, types included."""
    fields = (
        None if outcome.fields is None else [(name, type(value), value) for name, value in outcome.fields.items()]
    )
    return fields, outcome.error and (outcome.error.type, outcome.error.message), outcome.env


def compared(cases: Iterable[Case]) -> str:
    total = refused = different = 0
    for case in cases:
        port, successor = legacy.resolve(case), declarative.resolve(case)
        total += 1
        refused += port.error is not None
        if told(port) != told(successor):
            different += 1
            if different <= _MOST_SHOWN:
                print(f"{encode_case(case).decode()}\n    port      {port}\n    successor {successor}")
    return f"{total} cases, {refused} refused, {different} different"


def speed(cases: list[Case], repetitions: int) -> str:
    port = successor = 0.0
    for first in range(0, len(cases), _CHUNK):
        chunk = cases[first : first + _CHUNK]
        times = [
            (resolve_all(legacy.resolve, chunk), resolve_all(declarative.resolve, chunk)) for _ in range(repetitions)
        ]
        port += min(time for time, _ in times)
        successor += min(time for _, time in times)
    each = 1e6 / len(cases)
    return (
        f"speed: port {port * each:.1f} µs a case, successor {successor * each:.1f} µs, ratio {successor / port:.2f}"
    )


def resolve_all(resolve: Resolve, cases: list[Case]) -> float:
    started = time.perf_counter()
    for case in cases:
        resolve(case)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
