"""What the gate catches that a plain property test does not: both on the same mutants, with the same seconds.

    python benchmarks/audit_baseline.py A B --out FILE [--mutants N] [--only PATH ...] [--without NAME ...]
        [--seconds S] [--jobs N] [--ledger FILE] [--equivalents FILE] [--seed N]

The baseline is what one would write first: one Hypothesis strategy over the same arguments, variables, machines and
models, both packages called in the same process, DeepDiff on both outcomes of every case; ``--jobs`` processes with
seeds of their own. Both searches are run once for ``--seconds`` without a fault, which tells which cases each of them
compares in that time and when. Until a fault shows, it hardly changes what is tried, so a mutant is then caught by
the first of those cases whose outcomes differ, at its time; it runs over the cases alone, which are not made anew.

FILE keeps all of it: a run that was interrupted, or ended by ``--pause``, goes on from there. Reading FILE is how to
get at single mutants; the table is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import msgspec
from deepdiff import DeepDiff
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from harness.audit.mutants.equivalents import Equivalents, faults_of, load_equivalents
from harness.audit.reading.mutant import Mutant
from harness.audit.run.audit import Audit
from harness.audit.run.judge import Result
from harness.audit.run.results import Results
from harness.audit.run.trials import TrialMaker
from harness.engine.campaign import Budget, Request, run_campaign
from harness.engine.ledger.entries import Ledger, load_ledger
from harness.engine.result.events import Progressed, Started
from harness.formats.contract import encode_case, parse_case
from harness.generate.values.domains import Domains
from harness.subjects.open import open_spec
from harness.world.case import Case, Outcome
from harness.world.model import Model
from harness.world.profiles import hardware_names, hardware_profile, model_names, model_profile

# More arguments than these and hardly a case resolves.
_MOST_ARGUMENTS = 6


class Search(msgspec.Struct, kw_only=True):
    """One search without a fault: seconds until it began, and the seconds after which each case was compared."""

    loading: float
    times: list[float]
    cases: list[str] = []


class State(msgspec.Struct, kw_only=True):
    """What the file holds before any mutant: what was asked for, and both searches."""

    asked: dict[str, Any]
    gate: Search
    baseline: Search


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs=2, metavar="SUBJECT")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--ledger", type=Path)
    parser.add_argument("--equivalents", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, metavar="MINUTES", help="stop between rounds after that time")
    options = parser.parse_args()
    ends = None if options.pause is None else time.monotonic() + 60 * options.pause

    specs = [
        open_spec(text, answers=None, python=sys.executable, case_seconds=10, memory_mib=2048)
        for text in options.subjects
    ]
    ledger = load_ledger(options.ledger) if options.ledger else Ledger()
    listed = load_equivalents(options.equivalents) if options.equivalents else Equivalents()
    budget = Budget(seconds=options.seconds)
    request = Request(specs[0], specs[1], budget=budget, ledger=ledger, seed=options.seed, jobs=options.jobs)
    asked = {name: str(getattr(options, name)) for name in ("subjects", "seconds", "jobs", "seed")}
    with TrialMaker(request) as trials:
        listed.check(trials.package)
        files = trials.package.files_under(options.only) if options.only else None
        every = trials.package.outside(trials.package.mutants(files=files), options.without)
        mutants = trials.package.sample(every, options.mutants, options.seed, even=True)
        names = [spec.package for spec in specs]
        state = _state(options.out, asked, lambda: _searched(request, trials.domains, names, options))
        results = Results(options.out.with_suffix(".results.jsonl"))

        def audited(what: str) -> Audit:
            def tell(result: Result) -> None:
                if ends is not None and time.monotonic() > ends:
                    raise KeyboardInterrupt
                print(f"\r{what}: {result.cases} cases, {result.mutant.file}:{result.mutant.line}".ljust(100), end="")

            return Audit(trials.package, options.jobs, results, tell)

        plain = [parse_case(text.encode(), str(options.out)) for text in state.baseline.cases]
        try:
            by_gate = audited("gate").judge(mutants, trials.rounds(options.seed, len(state.gate.times)))
            by_baseline = audited("baseline").judge(mutants, [trials.trial_of(plain)])
        except KeyboardInterrupt:
            print("\nstopped; the same command goes on from here")
            return
        equivalent = {
            mutant: reason
            for mutant, fault in faults_of(trials.package, mutants).items()
            if (reason := listed.reason(fault)) is not None
        }
    print()
    _table(mutants, equivalent, (by_gate, state.gate), (by_baseline, state.baseline), options.seconds)


# -- the searches without a fault ------------------------------------------------------------------------------------


def _state(path: Path, asked: dict[str, Any], search: Callable[[], tuple[Search, Search]]) -> State:
    if path.exists():
        state = msgspec.json.decode(path.read_bytes(), type=State)
        if state.asked != asked:
            sys.exit(f"{path} was made for {state.asked}: give another file, or the same options")
        return state
    gate, baseline = search()
    state = State(asked=asked, gate=gate, baseline=baseline)
    partial = path.with_suffix(".part")
    partial.write_bytes(msgspec.json.encode(state))
    partial.replace(path)
    return state


def _searched(
    request: Request, domains: Domains, names: Sequence[str], options: argparse.Namespace
) -> tuple[Search, Search]:
    gate = _gate_search(request)
    print(f"gate: {len(gate.times)} cases in {options.seconds:g} s after {gate.loading:.1f} s of loading", flush=True)
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        parts = list(
            pool.map(
                _plain_search,
                [domains] * options.jobs,
                [tuple(names)] * options.jobs,
                [options.seconds] * options.jobs,
                range(options.seed, options.seed + options.jobs),
            )
        )
    merged = sorted((when, text) for part in parts for when, text in zip(part.times, part.cases, strict=True))
    loading = max(part.loading for part in parts)
    baseline = Search(loading=loading, times=[when for when, _ in merged], cases=[text for _, text in merged])
    print(f"baseline: {len(merged)} cases in {options.seconds:g} s after {loading:.1f} s of loading", flush=True)
    return gate, baseline


def _gate_search(request: Request) -> Search:
    """Run the gate itself; cases between two of its reports are taken to be compared at even distances."""
    begun = time.monotonic()
    started = 0.0
    times: list[float] = []

    def listen(event: object) -> None:
        nonlocal started
        now = time.monotonic() - begun
        if isinstance(event, Started):
            started = now
        elif isinstance(event, Progressed):
            count = event.counts.cases
            last = times[-1] if times else 0.0
            times.extend(last + (now - started - last) * (step + 1) / count for step in range(count))

    result = run_campaign(request, listen)
    if result.verdict == "different":
        sys.exit("the subjects differ without a fault: explain or mend that first")
    return Search(loading=started, times=times)


class _Over(KeyboardInterrupt):
    """Ends Hypothesis, which takes any other exception for a failure of the test."""


def _plain_search(domains: Domains, names: tuple[str, str], seconds: float, number: int) -> Search:
    """Run the baseline in this process, which has nothing else to do."""
    begun = time.monotonic()
    first, second = (import_module(name).resolve for name in names)
    # The first case imports what a package loads late.
    started = time.monotonic()
    times: list[float] = []
    cases: list[str] = []

    @seed(number)
    @settings(
        max_examples=10**9,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(_cases(domains))
    def agree(case: Case) -> None:
        assert not DeepDiff(_plain(first(case)), _plain(second(case)))
        now = time.monotonic() - started
        if now > seconds:
            raise _Over
        times.append(now)
        cases.append(encode_case(case).decode())

    with contextlib.suppress(_Over):
        agree()
    return Search(loading=started - begun, times=times, cases=cases)


def _plain(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as a test would compare it: a refusal's type, since messages are each package's own."""
    if outcome.error is not None:
        return {"error": outcome.error.type, "env": outcome.env}
    return {"fields": outcome.fields, "env": outcome.env}


def _cases(domains: Domains) -> st.SearchStrategy[Case]:
    """Return the strategy: a few arguments and variables, any machine and any model of those that have a name."""

    def some(options: dict[str, Sequence[Any]], most: int) -> st.SearchStrategy[dict[str, Any]]:
        pairs = [st.tuples(st.just(name), st.sampled_from(values)) for name, values in options.items()]
        return st.lists(st.one_of(pairs), max_size=most, unique_by=lambda pair: pair[0]).map(dict)

    profiles = [model_profile(name) for name in model_names()]
    architectures = st.sampled_from(domains.architectures).map(lambda name: Model(architectures=[name]))
    return st.builds(
        Case,
        id=st.just("baseline"),
        args=some({name: domain.values for name, domain in domains.args.items()}, _MOST_ARGUMENTS),
        hardware=st.sampled_from([hardware_profile(name) for name in hardware_names()]),
        model=st.one_of(st.sampled_from(profiles), architectures),
        env=some(dict(domains.environment), 2),
    )


# -- the table -------------------------------------------------------------------------------------------------------


def _table(
    mutants: Sequence[Mutant],
    equivalent: dict[Mutant, str],
    gate: tuple[Sequence[Result], Search],
    baseline: tuple[Sequence[Result], Search],
    seconds: float,
) -> None:
    caught = [
        {result.mutant: _when(result, search) for result in results if result.catch is not None}
        for results, search in (gate, baseline)
    ]
    live = [mutant for mutant in mutants if mutant not in equivalent]
    print(f"{len(mutants)} mutants, {len(equivalent)} of them listed as equivalent; {seconds:g} s each\n")
    print("| | gate | Hypothesis and DeepDiff |\n|---|---|---|")
    _row("cases compared in that time", [f"{len(search.times)}" for _, search in (gate, baseline)])
    _row(f"caught, of {len(live)}", [f"{len(found)} ({len(found) / max(1, len(live)):.1%})" for found in caught])
    _row("caught by it alone", [str(len(caught[0].keys() - caught[1])), str(len(caught[1].keys() - caught[0]))])
    _row("median seconds to catch", [_median(list(found.values())) for found in caught])
    both = caught[0].keys() & caught[1].keys()
    _row(f"the same, of the {len(both)} that both catch", [_median([found[one] for one in both]) for found in caught])
    for name in sorted({mutant.operator for mutant in live}):
        some = [mutant for mutant in live if mutant.operator == name]
        _row(f"{name}, of {len(some)}", [str(sum(mutant in found for mutant in some)) for found in caught])
    for mutant in live:
        if mutant not in caught[0]:
            print(f"not caught by the gate: {mutant.identity()}")
    for mutant in equivalent:
        if mutant in caught[0] or mutant in caught[1]:
            print(f"stale: {mutant.identity()} is listed as equivalent, and is caught")


def _row(name: str, cells: Sequence[str]) -> None:
    print(f"| {name} | {' | '.join(cells)} |")


def _median(times: Sequence[float]) -> str:
    return f"{statistics.median(times):.2f}" if times else "-"


def _when(result: Result, search: Search) -> float:
    """Return the seconds after which a search catches a mutant: when it has loaded, one that does not load."""
    assert result.catch is not None
    return search.loading + (0.0 if result.catch.by == "load" else search.times[result.catch.cases])


if __name__ == "__main__":
    main()
