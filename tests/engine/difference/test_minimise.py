"""What is left of a witness is what the difference needs, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from harness.engine.difference.buckets import weight
from harness.engine.difference.minimise import Shows, minimise, minimise_all, removals
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model

BIG = Case(
    id="big",
    args={name: number for number, name in enumerate("abcdefgh")},
    env={"SGLANG_A": "1", "SGLANG_B": "2"},
    hardware=Hardware(platform="cuda", capability=(10, 0), cuda_version="12.9", flashinfer=True, driver=580),
    model=Model(architectures=["A"], attention="mla", index_topk=2048, gguf=True),
)
PARTS = sorted(removals(BIG))


def needing(*groups: set[str]) -> Shows:
    """The difference shows when all parts of one of the groups are there."""

    def shows(cases: Sequence[Case]) -> list[bool]:
        return [any(group <= set(removals(case)) for group in groups) for case in cases]

    return shows


@given(st.sets(st.sampled_from(PARTS)))
def test_exactly_the_needed_parts_are_left(needed: set[str]) -> None:
    assert set(removals(minimise(BIG, needing(needed)))) == needed


@given(st.lists(st.sets(st.sampled_from(PARTS), min_size=1), min_size=1, max_size=4))
def test_nothing_more_can_be_taken_away(groups: list[set[str]]) -> None:
    shows = needing(*groups)
    if not shows([BIG])[0]:
        return
    small = minimise(BIG, shows)
    assert shows([small]) == [True]
    assert not any(shows([step(small) for step in removals(small).values()]))


def test_a_number_is_made_plain_where_it_may_be() -> None:
    case = Case(id="c", args={"tp_size": 16, "page_size": 64})
    small = minimise(
        case, lambda cases: [c.args.get("tp_size", 0) > 1 and c.args.get("page_size") == 64 for c in cases]
    )
    assert small.args == {"tp_size": 2, "page_size": 64}


def test_it_ends_when_everything_shows_the_difference() -> None:
    small = minimise(BIG, lambda cases: [True] * len(cases))
    assert (small.args, small.env, small.hardware, small.model) == ({}, {}, Hardware(), Model())


def test_causes_of_one_symptom_are_told_apart() -> None:
    shows = needing({"args.a"}, {"args.b", "env.SGLANG_A"})
    one = Case(id="1", args={"a": 1, "c": 1})
    two = Case(id="2", args={"b": 1, "d": 1}, env={"SGLANG_A": "1", "SGLANG_B": "1"})
    again = Case(id="3", args={"a": 7, "d": 1})
    forms = [tuple(removals(case)) for case in minimise_all([one, two, again], shows)]
    assert forms == [("args.a",), ("args.b", "env.SGLANG_A")]


def test_what_is_explained_is_not_minimised_again() -> None:
    asked = 0
    base = needing({"args.a"})

    def shows(cases: Sequence[Case]) -> list[bool]:
        nonlocal asked
        asked += len(cases)
        return base(cases)

    minimise_all([BIG], shows)
    alone = asked
    minimise_all([BIG] * 50, shows)
    assert asked - alone < alone + 100


@given(st.permutations(PARTS))
def test_the_result_depends_on_the_case_alone(order: list[str]) -> None:
    shuffled = Case(
        id="big",
        args={name: BIG.args[name] for name in (p.partition(".")[2] for p in order) if name in BIG.args},
        env=BIG.env,
        hardware=BIG.hardware,
        model=BIG.model,
    )
    shows = needing({"args.c", "model.gguf"}, {"args.d", "args.e"})
    assert weight(minimise(shuffled, shows)) == weight(minimise(BIG, shows))


def test_a_model_may_bring_what_an_argument_says() -> None:
    # "B" has a default of its own for what "e" sets, on a GPU.
    def shows(cases: Sequence[Case]) -> list[bool]:
        return [
            set("abcd") <= case.args.keys()
            and ("e" in case.args or (case.model.architectures == ["B"] and case.hardware.platform == "cuda"))
            for case in cases
        ]

    case = Case(id="five", args=dict.fromkeys("abcde", "x"))
    assert minimise(case, shows).args.keys() == set("abcde")
    small = minimise(case, shows, ["A", "B"])
    assert (sorted(small.args), small.model.architectures) == (list("abcd"), ["B"])
    assert small.hardware == Hardware(platform="cuda")
