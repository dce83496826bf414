"""Buckets come out the same in whatever order and grouping the cases are met."""

from __future__ import annotations

import random

import pytest

from harness.engine.difference.buckets import SAMPLE, Buckets, weight
from harness.engine.difference.compare import Difference
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model


def difference(value: object) -> Difference:
    return Difference(kind="field", name="page_size", first=1, second=value)


CASES = [
    (difference(number % 3), Case(id=str(number), args={"tp_size": number, **({"x": 1} if number % 2 else {})}))
    for number in range(60)
]
# Cases that are alike but for their id: which of them stays must not depend on who met it first.
CASES += [(found, Case(id=f"9{case.id}", args=case.args)) for found, case in CASES[:20]]


def as_data(buckets: Buckets) -> list[tuple[str, int, Case, list[Case]]]:
    return [(b.difference.key(), b.count, b.witness, b.others) for b in buckets.all()]


def gathered(groups: list[list[tuple[Difference, Case]]]) -> Buckets:
    total = Buckets()
    for group in groups:
        part = Buckets()
        for found, case in group:
            part.add(found, case)
        total.merge(part.all())
    return total


@pytest.mark.parametrize("seed", range(5))
def test_order_and_grouping_do_not_matter(seed: int) -> None:
    expected = as_data(gathered([list(CASES)]))
    shuffled = list(CASES)
    random.Random(seed).shuffle(shuffled)
    size = seed + 1
    assert as_data(gathered([shuffled[i : i + size] for i in range(0, len(shuffled), size)])) == expected


def test_counts_and_samples() -> None:
    buckets = gathered([list(CASES)]).all()
    assert sorted(bucket.count for bucket in buckets) == [26, 27, 27]
    assert all(len(bucket.others) == SAMPLE for bucket in buckets)


def test_the_witness_is_the_smallest() -> None:
    (first, *_) = gathered([list(CASES)]).all()
    assert all(
        weight(first.witness) <= weight(case) for found, case in CASES if found.key() == first.difference.key()
    )


def test_new_buckets_are_told_once() -> None:
    buckets, part = Buckets(), Buckets()
    part.add(*CASES[0])
    assert len(buckets.merge(part.all())) == 1
    part = Buckets()
    part.add(*CASES[3])
    assert buckets.merge(part.all()) == []


@pytest.mark.parametrize(
    "larger",
    [
        Case(id="a", args={"x": 1}),
        Case(id="a", env={"SGLANG_X": "1"}),
        Case(id="a", hardware=Hardware(platform="cuda")),
        Case(id="a", model=Model(gguf=True)),
    ],
)
def test_everything_that_is_set_weighs(larger: Case) -> None:
    assert weight(Case(id="a longer name")) < weight(larger)
    same = Case(id="b", args=larger.args, env=larger.env, hardware=larger.hardware, model=larger.model)
    assert weight(larger)[:4] == weight(same)[:4]
    assert weight(larger) < weight(same)
