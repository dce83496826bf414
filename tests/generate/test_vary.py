"""A variation is a case of the same kind as any other, and never changes the one that it is made from."""

from __future__ import annotations

from descriptions import made_domains
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.contract import encode_case, parse_case
from harness.generate.cases import CHUNK, CaseMaker
from harness.generate.chance.draw import SeededDraw
from harness.generate.values.domains import Domains
from harness.generate.values.models import ModelDraw
from harness.generate.vary import Variation


@given(st.integers(0, 2**32))
def test_a_variation_keeps_the_contract_and_its_base(seed: int) -> None:
    domains = made_domains()
    base, other = CaseMaker(domains).chunk(seed, 0)[:2]
    before = encode_case(base), encode_case(other)
    varied = Variation(domains, ModelDraw(domains)).varied(SeededDraw(seed, 1), base, other, "varied")
    assert parse_case(encode_case(varied), "varied") == varied
    assert varied.id == "varied"
    assert (encode_case(base), encode_case(other)) == before
    assert varied.args.keys() <= domains.args.keys()


def test_most_variations_are_close_to_what_they_vary(domains: Domains) -> None:
    base, other = CaseMaker(domains).chunk(1, 0)[5:7]
    variation = Variation(domains, ModelDraw(domains))
    varied = [variation.varied(SeededDraw(2, number), base, other, "v") for number in range(200)]
    same = [
        sum((one.args == base.args, one.env == base.env, one.hardware == base.hardware, one.model == base.model))
        for one in varied
    ]
    assert sum(count >= 3 for count in same) > 120
    assert sum(count == 4 for count in same) < 60


def test_a_chunk_varies_what_it_is_given(domains: Domains) -> None:
    maker = CaseMaker(domains)
    plain, guided = maker.chunk(3, 7), maker.chunk(3, 7, maker.chunk(3, 0)[:25])
    changed = [index for index in range(CHUNK) if plain[index].args != guided[index].args]
    assert changed
    assert guided == maker.chunk(3, 7, maker.chunk(3, 0)[:25])
