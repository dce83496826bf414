"""How many pairs and triples the cases had is exact where it can be, and the same for any number of jobs."""

from __future__ import annotations

from itertools import combinations

from harness.engine.result.breakdown import Breakdown
from harness.engine.result.events import Counts, Interactions, Space
from harness.engine.search.interactions import SAMPLED, Seen, Tally, space_of
from harness.engine.search.plan import Compared, decode, encode
from harness.generate.cases import CaseMaker
from harness.generate.covering.parameters import parameters_of
from harness.generate.values.domains import Domain, Domains
from harness.subjects.child.serve.operations import ReachReport
from harness.world.case import Case


def domains_with(count: int) -> Domains:
    """Return so many arguments, each left out, 1 or 2."""
    names = [f"f{number}" for number in range(count)]
    args = {name: Domain((1, 2), compared=(1, 2)) for name in names}
    return Domains(args=args, pool=tuple(names), environment={}, architectures=("A",), quantizations=())


def tallied(domains: Domains, *chunks: list[Case]) -> Interactions:
    parameters = parameters_of(domains)
    seen, tally = Seen(space_of(parameters)), Tally(parameters)
    for chunk in chunks:
        seen.add(tally.add(chunk))
    return seen.total()


def test_no_parameter_and_one() -> None:
    assert tallied(domains_with(0), [Case(id="a")]) == Interactions()
    one = tallied(domains_with(1), [Case(id="a")])
    assert one == Interactions(space=Space(parameters=1))


def test_shares_are_exact_on_a_tiny_domain() -> None:
    domains = domains_with(4)
    cases = list(CaseMaker(domains).cases(1, 12))
    found = tallied(domains, cases[:5], cases[5:])
    options = [[(name, case.args.get(name)) for name in domains.args] for case in cases]
    assert found.space == Space(parameters=4, pairs=54, triples=108, sampled=108)
    assert found.pairs == len({pair for row in options for pair in combinations(row, 2)})
    assert found.triples == len({triple for row in options for triple in combinations(row, 3)})
    assert 0 < found.triples < 108


def test_a_value_that_is_not_counted_covers_nothing_of_its_parameter() -> None:
    domains = domains_with(3)
    found = tallied(domains, [Case(id="a", args={"f0": 1, "not_there": 3})], [Case(id="b", args={"f0": 1})])
    assert (found.pairs, found.triples) == (3, 1)


def test_many_triples_are_sampled_and_always_the_same() -> None:
    domains = domains_with(30)
    chunks = [CaseMaker(domains).chunk(1, number) for number in range(4)]
    first, second = tallied(domains, *chunks), tallied(domains, *chunks)
    assert first == second
    assert first.space.triples == 27 * 4060 and first.space.sampled == SAMPLED
    options = [[(name, case.args.get(name)) for name in domains.args] for chunk in chunks for case in chunk]
    exact = len({triple for row in options for triple in combinations(row, 3)}) / first.space.triples
    assert abs(first.triples / SAMPLED - exact) < 0.02
    assert first.pairs == len({pair for row in options for pair in combinations(row, 2)})


def test_any_jobs_put_together_have_the_same_total() -> None:
    domains = domains_with(12)
    parameters = parameters_of(domains)
    chunks = [CaseMaker(domains).chunk(1, number) for number in range(4)]
    jobs, seen = [Tally(parameters), Tally(parameters)], Seen(space_of(parameters))
    # The second job takes three chunks, out of order, and one of them is done again by the first.
    for job, number in ((1, 3), (0, 0), (1, 2), (1, 1), (0, 3)):
        answer = Compared(
            number=number,
            counts=Counts(),
            buckets=[],
            breakdown=Breakdown(),
            reach=(ReachReport(), ReachReport()),
            tuples=jobs[job].add(chunks[number]),
            news=[],
        )
        seen.add(decode(encode(answer), Compared).tuples)
    assert seen.total() == tallied(domains, *chunks)
