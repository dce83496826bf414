"""The Hypothesis strategies make the same kind of cases, and shrink them."""

from __future__ import annotations

from hypothesis import find, given, settings
from hypothesis import strategies as st

from harness.formats.contract import encode_case, parse_case
from harness.generate.strategies import cases, machines, models
from harness.generate.values.domains import Domain, Domains
from harness.world.case import Case
from harness.world.hardware import Hardware

DOMAINS = Domains(
    args={"page_size": Domain((1, 64)), "backend": Domain(("a", "b"))},
    pool=("page_size", "backend"),
    environment={"SGLANG_X": ("1", "0")},
    architectures=("LlamaForCausalLM",),
    quantizations=("fp8",),
)


@given(cases(DOMAINS))
def test_cases_keep_the_contract(case: Case) -> None:
    assert parse_case(encode_case(case), "x") == case


@given(machines())
def test_machines_are_possible(machine: Hardware) -> None:
    assert machine.platform != "cuda" or (machine.capability and machine.cuda_version)


@given(models(DOMAINS), st.none())
def test_models_have_an_architecture(model: object, _: None) -> None:
    assert model.architectures  # type: ignore[attr-defined]


def test_hypothesis_shrinks_to_the_argument_that_matters() -> None:
    found = find(cases(DOMAINS), lambda case: case.args.get("page_size") == 64, settings=settings(max_examples=2000))
    assert set(found.args) == {"page_size"}
