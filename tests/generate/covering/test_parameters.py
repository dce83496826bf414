"""What conditions tell apart is an option of its own, and rows become cases that have the options of the row."""

from __future__ import annotations

from itertools import combinations

import pytest

from harness.generate.cases import CaseMaker
from harness.generate.covering.columns import CaseColumns
from harness.generate.covering.parameters import MOST_OPTIONS, MOST_PARAMETERS, Parameter, parameters_of
from harness.generate.covering.rows import Rows
from harness.generate.values.domains import Domain, Domains
from harness.generate.values.inputs import ABSENT, ARCHITECTURE, MACHINE
from harness.subjects.description import Aims, Condition
from harness.world.case import Case
from harness.world.model import Model

CONDITIONS = (
    Condition("arg", "size", ">", (4,), True),
    Condition("arg", "backend", "is", ("a", "b"), True),
    Condition("arg", "backend", "is", ("a", "b"), False),
    Condition("call", "is_hip", "true", (), True),
    Condition("model", "hf_config.architectures.0", "is", ("One", "Two"), True),
    Condition("model", "gguf", "true", (), True),
)
SMALL = Domains(
    args={
        "size": Domain((1, 2, 8, 16), default=1),
        "backend": Domain(("a", "b", "c", "d"), compared=("d",)),
        "config": Domain(({"x": 1}, {"x": 2})),
    },
    pool=("size", "backend", "config"),
    environment={"SGLANG_X": ("1", "0")},
    architectures=("One", "Two", "Three", "Four"),
    quantizations=(),
    aims=Aims(conditions=CONDITIONS),
)
NOTHING = Domains(args={}, pool=(), environment={}, architectures=("A",), quantizations=())


def by_key(domains: Domains) -> dict[tuple[str, str], Parameter]:
    return {parameter.key: parameter for parameter in parameters_of(domains)}


def test_values_that_no_condition_tells_apart_are_one_option() -> None:
    found = by_key(SMALL)
    assert found["arg", "size"].options == ((ABSENT,), (1, 2), (8, 16))
    assert found["arg", "backend"].options == ((ABSENT,), ("a", "b"), ("c",), ("d",))
    assert found["env", "SGLANG_X"].options == ((ABSENT,), ("1",), ("0",))
    assert found[ARCHITECTURE].options == (("One", "Two"), ("Three", "Four"))
    assert found["model", "gguf"].options == ((False,), (True,))
    groups = [{machine.platform for machine in option} for option in found[MACHINE].options]
    assert {"hip"} in groups and len(groups) == 2
    assert ("model", "index_topk") not in found


def test_a_value_outside_the_domain_has_the_group_of_its_like() -> None:
    found = by_key(SMALL)
    assert found["arg", "size"].group(77) == 2
    assert found["arg", "size"].group(3) == 1
    assert found["arg", "backend"].group(None) is not None


def test_the_bounds_keep_what_most_conditions_name() -> None:
    many = Domains(
        args={f"f{n}": Domain(tuple(range(60)), compared=tuple(range(60))) for n in range(MOST_PARAMETERS + 9)},
        pool=(),
        environment={},
        architectures=("A",),
        quantizations=(),
        aims=Aims(conditions=(Condition("arg", f"f{MOST_PARAMETERS + 8}", ">", (5,), True),)),
    )
    found = parameters_of(many)
    assert len(found) == MOST_PARAMETERS
    assert found[0].key == ("arg", f"f{MOST_PARAMETERS + 8}")
    assert {len(parameter.options) for parameter in found} == {MOST_OPTIONS}
    assert found[0].group(59) is None


def options_of(case: Case, parameters: list[Parameter]) -> list[int]:
    """Return the options of a case, read the slow way."""
    found = []
    for parameter in parameters:
        kind, name = parameter.key
        value: object = getattr(case.model, name) if kind == "model" else case.hardware
        if kind in ("arg", "env"):
            value = (case.args if kind == "arg" else case.env).get(name, ABSENT)
        option = parameter.group(value[0] if parameter.key == ARCHITECTURE else value)  # type: ignore[index]
        assert option is not None
        found.append(option)
    return found


def test_rows_become_cases_that_have_every_pair() -> None:
    rows = Rows(SMALL)
    maker = CaseMaker(SMALL)
    made = list(maker.cases(5, 10 * len(rows.rows)))[9::10]
    found = {pair for case in made for pair in combinations(enumerate(options_of(case, rows.parameters)), 2)}
    sizes = [len(parameter.options) for parameter in rows.parameters]
    assert len(found) == sum(one * other for one, other in combinations(sizes, 2))


def test_launches_take_no_row_away() -> None:
    launches = [Case(id=f"launch-{number}") for number in range(13)]
    rows = Rows(SMALL)
    late, early = CaseMaker(SMALL, launches).chunk(5, 0)[19::10], CaseMaker(SMALL).chunk(5, 0)[9::10]
    count = len(rows.rows)
    assert [options_of(case, rows.parameters) for case in late[:count]] == [
        options_of(case, rows.parameters) for case in early[:count]
    ]


def test_the_order_of_the_rows_is_the_seeds() -> None:
    rows = Rows(SMALL)
    orders = []
    for seed in (1, 1, 2):
        cases = CaseMaker(SMALL).chunk(seed, 0)[9::10][: len(rows.rows)]
        orders.append([options_of(case, rows.parameters) for case in cases])
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])


@pytest.mark.parametrize("domains", [SMALL, NOTHING])
def test_a_table_says_what_the_cases_have(domains: Domains) -> None:
    parameters = parameters_of(domains)
    cases = [*CaseMaker(domains).cases(3, 200), Case(id="x", args={"size": 5, "config": {"x": 2}, "else": 1})]
    cases = [case for case in cases if case.model.architectures[0] in domains.architectures]
    table = CaseColumns(parameters).of(cases)
    firsts = [sum(len(p.options) for p in parameters[:number]) for number in range(len(parameters))]
    for number, case in enumerate(cases):
        expected = {first + option for first, option in zip(firsts, options_of(case, parameters), strict=True)}
        assert {option for option, column in enumerate(table.columns) if column >> number & 1} == expected
        assert table.rows[number] == sum(1 << option for option in expected)


def test_a_model_attribute_said_to_be_what_it_is_is_silent() -> None:
    parameters = parameters_of(SMALL)
    tables = [CaseColumns(parameters).of([Case(id="x", model=model)]) for model in (Model(), Model(gguf=False))]
    assert tables[0] == tables[1]
