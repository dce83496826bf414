"""What is drawn for an aim fulfils it, as far as a case can, and all aims get their turn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from descriptions import description, field
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.contract import encode_case, parse_case
from harness.generate.aiming.aims import AimDraw, AimedInputs
from harness.generate.aiming.goals import Goal
from harness.generate.cases import CaseMaker
from harness.generate.chance.draw import SeededDraw
from harness.generate.strategies import HypothesisDraw
from harness.generate.values.domains import Domains, domains_of
from harness.generate.values.inputs import meets
from harness.generate.values.models import ModelDraw
from harness.subjects.child.aims.harvest import harvest
from harness.subjects.description import Aims, Condition, Variable
from harness.world.case import Case
from harness.world.modelview import ModelConfig
from harness.world.probes import HARDWARE_PROBES

FIELDS = (
    field("backend", "str", optional=True, choices=("a", "b", "c")),
    field("other", "str", optional=True, choices=("a", "b", "c")),
    field("ranks", "int", default=1, compared=(1, 8)),
    field("groups", "int", default=1, compared=(1, 8)),
    field("size", "int", optional=True, compared=(512,)),
    field("flag", "bool", default=False),
    field("device", "str", optional=True, compared=("cpu", "npu")),
    field("graphs", "object", optional=True),
)
BETWEEN = {
    "same": lambda one, other: one == other,
    "multiple": lambda one, other: one % other == 0,
    "under": lambda one, other: one < other,
    "upto": lambda one, other: one <= other,
}
ENVIRONMENT = {
    "SGLANG_ON": Variable(type="bool", default=False),
    "SGLANG_COUNT": Variable(type="int", default=1, compared=(7,)),
    "SGLANG_TEXT": Variable(type="str", default="nhd", compared=("wide",)),
}
ENTRY = {"device": {"from": "probe.get_device"}, "size": {"value": 8192}}
GRAPHS = {"graphs": [{"decode": {"mode": "off"}}, {"decode": {"mode": "full"}}]}


def domains_for(conditions: list[Condition], aims: Aims | None = None) -> Domains:
    """Return domains with one aim, that all ``conditions`` hold, or with ``aims``."""
    numbers = range(len(conditions))
    one = Aims(
        conditions=tuple(conditions),
        clauses=tuple(((number,),) for number in numbers),
        places=((tuple(numbers),),),
    )
    subject = description(
        *FIELDS,
        environment=ENVIRONMENT,
        architectures=("Step3p5ForCausalLM", "GptOssForCausalLM", "PlainForCausalLM"),
        aims=aims if aims is not None else one,
    )
    return domains_of(subject, subject, GRAPHS, (), ENTRY)


def condition(kind: str, name: str, operation: str, *values: Any, wanted: bool = True) -> Condition:
    return Condition(kind, name, operation, values, wanted)  # type: ignore[arg-type]


def holds(drawn: AimedInputs, asked: Condition) -> bool:
    """Return whether a case fulfils a condition, asked in another way than the generator does."""
    if asked.operation == "set":
        return (asked.name in drawn.env) is asked.wanted
    value = read(drawn, asked.kind, asked.name)
    if asked.operation in BETWEEN:
        name, kind = (*asked.values, "arg")[:2]
        return BETWEEN[asked.operation](value, read(drawn, kind, name)) is asked.wanted
    return meets(value, asked.operation, asked.values) is asked.wanted


def read(drawn: AimedInputs, kind: str, name: str) -> Any:
    """Return the value of an input in a case."""
    name, _, path = name.partition(".")
    value: Any
    if kind == "arg" and name == "device":
        value = drawn.args.get("device") or HARDWARE_PROBES["get_device"](drawn.hardware)
    elif kind == "arg":
        defaults = {"ranks": 1, "groups": 1, "size": 8192, "flag": False}
        value = drawn.args.get(name, defaults.get(name))
        for step in path.split(".") if path else ():
            value = (value or {}).get(step)
    elif kind == "env":
        variable = ENVIRONMENT[name]
        text = drawn.env.get(name)
        readers: dict[str, Any] = {"bool": lambda text: text == "1", "int": int, "str": str}
        value = variable.default if text is None else readers[variable.type](text)
    elif kind == "call":
        value = HARDWARE_PROBES[name](drawn.hardware)
        value = value[int(path)] if path else value  # type: ignore[index]
    else:
        config = ModelConfig(drawn.model)
        value = getattr(config.hf_config, name, None) if hasattr(config.hf_config, name) else getattr(config, name)
        for step in path.split(".") if path else ():
            value = value[int(step)] if isinstance(value, list) else (value or {}).get(step)
    return value


CONDITIONS = [
    condition("arg", "backend", "is", None),
    condition("arg", "backend", "is", "a", "b"),
    condition("arg", "backend", "is", "a", wanted=False),
    condition("arg", "backend", "true"),
    condition("arg", "size", "is", None),
    condition("arg", "size", "is", None, wanted=False),
    condition("arg", "size", "<=", 512),
    condition("arg", "ranks", ">", 1),
    condition("arg", "ranks", "same", "groups"),
    condition("arg", "groups", "same", "ranks", wanted=False),
    condition("arg", "backend", "same", "other"),
    condition("arg", "ranks", "multiple", "groups", wanted=False),
    condition("arg", "ranks", "multiple", "groups"),
    condition("arg", "ranks", "under", "groups"),
    condition("arg", "groups", "upto", "ranks", wanted=False),
    condition("arg", "ranks", "same", "num_key_value_heads", "model"),
    condition("arg", "ranks", "upto", "SGLANG_COUNT", "env", wanted=False),
    condition("env", "SGLANG_COUNT", "under", "ranks"),
    condition("arg", "flag", "true"),
    condition("arg", "flag", "true", wanted=False),
    condition("arg", "device", "is", "npu"),
    condition("arg", "device", "is", "npu", "cpu", wanted=False),
    condition("arg", "graphs.decode.mode", "is", "off"),
    condition("env", "SGLANG_ON", "true"),
    condition("env", "SGLANG_ON", "true", wanted=False),
    condition("env", "SGLANG_ON", "set"),
    condition("env", "SGLANG_COUNT", "is", 1, 2, wanted=False),
    condition("env", "SGLANG_TEXT", "is", "wide"),
    condition("call", "is_hip", "true"),
    condition("call", "is_sm100_supported", "true"),
    condition("call", "is_npu", "true", wanted=False),
    condition("call", "get_device_sm", ">=", 80),
    condition("call", "get_nvidia_driver_version", ">=", (595,)),
    condition("call", "get_device_capability.0", "is", 9),
    condition("call", "cpu_has_amx_support", "true"),
    condition("model", "architectures.0", "is", "GptOssForCausalLM"),
    condition("model", "architectures.0", "contains", "Step3p5"),
    condition("model", "architectures", "contains", "GptOssForCausalLM"),
    condition("model", "quantization", "is", "modelopt"),
    condition("model", "quantization_config.quant_method", "is", "mxfp4"),
    condition("model", "quantization_config.quant_algo", "is", "NVFP4"),
    condition("model", "quantization_config", "is", None),
    condition("model", "index_topk", "is", None, wanted=False),
    condition("model", "index_topk_freq", ">", 1),
    condition("model", "context_len", ">", 8192),
    condition("model", "layer_types", "contains", "mamba"),
    condition("model", "has_attention_sinks", "true"),
    condition("model", "mlp_hidden_act", "is", "gelu"),
]


def maker_for(domains: Domains) -> AimDraw:
    return AimDraw(domains, ModelDraw(domains))


def test_a_name_that_contains_what_is_looked_for_is_drawn_as_often_as_that_name() -> None:
    maker = maker_for(domains_for([condition("model", "architectures.0", "contains", "Step3p5ForCausalLM")]))
    names = [met(maker, stream).model.architectures[0] for stream in range(40)]
    assert set(names) == {"Step3p5ForCausalLM", "Step3p5ForCausalLMNextN"}


def met(maker: AimDraw, stream: int) -> AimedInputs:
    """Draw for one of the places, missing nothing."""
    draw = SeededDraw(1, stream)
    return maker.draw(draw, Goal(draw.pick(maker.places)))


@pytest.mark.parametrize("asked", CONDITIONS, ids=str)
def test_each_kind_of_condition_is_fulfilled(asked: Condition) -> None:
    domains = domains_for([asked])
    maker = maker_for(domains)
    for stream in range(60):
        drawn = met(maker, stream)
        assert holds(drawn, asked), drawn


@given(data=st.data(), asked=st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=5))
def test_conditions_about_different_inputs_are_fulfilled_together(
    data: st.DataObject, asked: list[Condition]
) -> None:
    groups = {"ranks": "ranks", "groups": "ranks", "backend": "backend", "other": "backend", "device": "call"}
    groups["SGLANG_COUNT"] = "ranks"
    inputs = [groups.get(c.name, "call" if c.kind == "call" else c.name.partition(".")[0]) for c in asked]
    chosen = [c for position, c in enumerate(asked) if inputs[position] not in inputs[:position]]
    maker = maker_for(domains_for(chosen))
    drawn = maker.draw(HypothesisDraw(data.draw), Goal(maker.places[0]))  # type: ignore[arg-type]
    assert all(holds(drawn, c) for c in chosen), drawn
    case = Case(id="c", args=drawn.args, hardware=drawn.hardware, model=drawn.model, env=drawn.env)
    assert parse_case(encode_case(case), "x") == case


ASKED = (
    condition("arg", "backend", "is", "a"),
    condition("arg", "flag", "true"),
    condition("call", "is_hip", "true"),
)


def test_one_alternative_of_a_clause_is_fulfilled_and_each_has_its_turn() -> None:
    asked = ASKED
    aims = Aims(conditions=tuple(asked), clauses=(((0,), (1, 2)),), places=(((0,),),))
    domains = domains_for([], aims)
    maker = maker_for(domains)
    seen = set()
    for stream in range(60):
        drawn = met(maker, stream)
        first, second, third = (holds(drawn, c) for c in asked)
        assert first or (second and third)
        seen.add((first, second))
    assert {(True, False), (False, True)} <= seen


def test_an_alternative_that_contradicts_the_rest_is_not_chosen() -> None:
    asked = [
        condition("call", "is_sm100_supported", "true"),
        condition("call", "is_cpu", "true"),
        condition("arg", "flag", "true"),
    ]
    aims = Aims(conditions=tuple(asked), clauses=(((0,),), ((1,), (2,))), places=(((0, 1),),))
    domains = domains_for([], aims)
    maker = maker_for(domains)
    for stream in range(30):
        drawn = met(maker, stream)
        assert holds(drawn, asked[0]) and holds(drawn, asked[2])


def test_a_device_that_is_not_the_machines_is_said() -> None:
    asked = [condition("call", "is_cpu", "true"), condition("arg", "device", "is", "cpu", wanted=False)]
    domains = domains_for(asked)
    maker = maker_for(domains)
    for stream in range(30):
        drawn = met(maker, stream)
        assert drawn.hardware.platform == "cpu" and drawn.args["device"] != "cpu"


def scheduled(domains: Domains, count: int) -> list[AimedInputs]:
    maker = maker_for(domains)
    schedules = maker.schedules(1)
    return [maker.draw(SeededDraw(1, number), schedules.goal(number)) for number in range(count)]


def test_each_demand_is_missed_while_the_others_are_met() -> None:
    asked = [condition("arg", "backend", "is", "a"), condition("arg", "flag", "true")]
    found = {tuple(holds(drawn, c) for c in asked) for drawn in scheduled(domains_for(asked), 200)}
    assert found == {(True, True), (True, False), (False, True)}


def test_alternatives_are_met_one_by_one_and_missed_all_together() -> None:
    asked = [condition("arg", "backend", "is", "a"), condition("arg", "flag", "true")]
    aims = Aims(conditions=tuple(asked), clauses=(((0,), (1,)),), places=(((0,),),))
    found = {tuple(holds(drawn, c) for c in asked) for drawn in scheduled(domains_for([], aims), 200)}
    assert {(True, False), (False, True), (False, False)} <= found


def test_one_demand_of_an_alternative_is_missed_while_its_others_are_met() -> None:
    asked = [
        condition("arg", "backend", "is", "a"),
        condition("arg", "flag", "true"),
        condition("arg", "ranks", "is", 8),
    ]
    aims = Aims(conditions=tuple(asked), clauses=(((0, 1), (0, 2)),), places=(((0,),),))
    found = {tuple(holds(drawn, c) for c in asked) for drawn in scheduled(domains_for([], aims), 400)}
    assert {(True, False, False), (False, True, False), (False, False, True)} <= found


def test_a_relation_in_an_alternative_is_missed_while_its_demand_is_met() -> None:
    asked = [
        condition("arg", "flag", "true"),
        condition("arg", "ranks", "same", "num_key_value_heads", "model"),
        condition("arg", "backend", "is", "a"),
    ]
    aims = Aims(conditions=tuple(asked), clauses=(((0, 1), (2,)),), places=(((0,),),))
    found = {tuple(holds(drawn, c) for c in asked) for drawn in scheduled(domains_for([], aims), 200)}
    assert {(True, True, False), (True, False, False), (False, True, False)} <= found


def test_a_number_is_missed_by_one_most_of_the_time() -> None:
    asked = condition("arg", "ranks", "is", 8)
    missed = [drawn.args.get("ranks", 1) for drawn in scheduled(domains_for([asked]), 400) if not holds(drawn, asked)]
    assert len(missed) > 100
    assert 0.4 < sum(value in (7, 9) for value in missed) / len(missed) < 0.75


def test_each_number_beside_a_list_has_its_turn() -> None:
    alone = condition("arg", "ranks", "is", 1, 8)
    missed = {drawn.args.get("ranks", 1) for drawn in scheduled(domains_for([alone]), 60)}
    assert {0, 2, 7, 9} <= missed
    # Also where it is one of several ways, whichever that is.
    asked = [condition("arg", "backend", "is", name) for name in "abc"]
    places = (((0,),),)
    aims = Aims(
        conditions=(*asked, alone, condition("arg", "flag", "true")),
        clauses=(((0, 4), (1, 4), (2, 4), (4, 0), (4, 1), (2, 3)),),
        places=places,
    )
    drawn = scheduled(domains_for([], aims), 200)
    assert {0, 2, 7, 9} <= {one.args.get("ranks", 1) for one in drawn if one.args.get("backend") == "c"}


def behind_a_writer(**other: Any) -> Aims:
    """Return aims whose first place asks for a backend and the flag; the second, on ROCm, writes the backend."""
    aims = Aims(
        conditions=ASKED,
        clauses=(((0,),), ((1,),), ((2,),)),
        places=(((0, 1),), ((2,),)),
        writers=((1, "backend"),),
    )
    return msgspec.structs.replace(aims, **other)


def behind_a_reader() -> Aims:
    """Return the same where the first place asks for the flag alone, and reads the backend."""
    return behind_a_writer(places=(((1,),), ((2,),)), readers=((0, "backend"),))


def test_a_place_is_met_behind_a_writer_of_what_it_asks_for() -> None:
    asked, aims = ASKED, behind_a_writer()
    drawn = scheduled(domains_for([], aims), 400)
    behind = [one for one in drawn if holds(one, asked[1]) and holds(one, asked[2]) and "backend" not in one.args]
    assert len(behind) > 20
    drawn = scheduled(domains_for([], behind_a_reader()), 400)
    assert sum(holds(one, asked[1]) and holds(one, asked[2]) for one in drawn) > 20
    # Where the two exclude each other, there is no such goal.
    excluded = behind_a_writer(
        conditions=(*asked, condition("arg", "flag", "true", wanted=False)), clauses=(((0,),), ((1,),), ((3,),))
    )
    plain = msgspec.structs.replace(excluded, writers=())
    assert len(maker_for(domains_for([], excluded)).schedules(0).resolved) == len(
        maker_for(domains_for([], plain)).schedules(0).resolved
    )


def test_a_field_that_is_written_before_is_set_by_the_user_too() -> None:
    asked, aims = ASKED, behind_a_writer()
    # Behind the writer, which does not ask for the backend, the first place is met as far as the user goes.
    drawn = scheduled(domains_for([], aims), 400)
    assert sum(all(holds(one, other) for other in asked) for one in drawn) > 20
    # One that reads it is met with each value that it can be set to.
    drawn = scheduled(domains_for([], behind_a_reader()), 400)
    both = [one for one in drawn if holds(one, asked[1]) and holds(one, asked[2])]
    assert {one.args.get("backend") for one in both} == {None, "a", "b", "c"}


def test_two_checks_refuse_at_once() -> None:
    asked = ASKED
    aims = Aims(
        conditions=(*asked, condition("arg", "flag", "true", wanted=False)),
        clauses=(((0,),), ((1,),), ((2,),), ((3,),)),
        places=(((0,),), ((1,),), ((2,),), ((3,),)),
        refusals=(0, 1, 3),
    )
    refused = maker_for(domains_for([], aims)).schedules(0).refused
    pairs = [sorted(name for _, name in goal.aims[0].left) for goal in refused if len(goal.aims[0].left) > 1]
    # The second and the third of the checks exclude each other.
    assert pairs == [["backend", "flag"], ["backend", "flag"]]
    drawn = [one for one in scheduled(domains_for([], aims), 400) if holds(one, asked[0]) and holds(one, asked[1])]
    assert len(drawn) > 10


def test_arguments_with_the_same_choices_are_set_together_now_and_then() -> None:
    domains = domains_for([condition("arg", "backend", "is", "a")])
    assert domains.siblings == {"backend": ("other",), "other": ("backend",)}

    def share(domains: Domains) -> float:
        aimed = [case for case in CaseMaker(domains).cases(1, 2_000) if case.args.get("backend") == "a"]
        return sum("other" in case.args for case in aimed) / len(aimed)

    assert 0.1 < share(domains) - share(replace(domains, siblings={})) < 0.3


def test_every_member_of_a_list_has_its_turn() -> None:
    asked = condition("arg", "ranks", "is", 1, 2, 4, 8)
    found = {drawn.args.get("ranks") for drawn in scheduled(domains_for([asked]), 60)}
    assert {2, 4, 8} <= found


def test_every_goal_comes_before_any_comes_again() -> None:
    asked = [condition("arg", "backend", "is", "a"), condition("arg", "flag", "true")]
    schedules = maker_for(domains_for(asked)).schedules(3)
    taken = [id(schedules.goal(number)) for number in range(200)]
    resolved = [id(goal) for goal in schedules.resolved]
    assert [goal for goal in taken if goal in resolved][: len(resolved)] == resolved


def test_what_no_case_can_say_is_left_out() -> None:
    asked = [
        condition("call", "is_moon_full", "true"),
        condition("model", "unheard_of", "true"),
        condition("arg", "unheard_of", "true"),
        condition("env", "UNHEARD_OF", "true"),
    ]
    domains = domains_for(asked)
    assert maker_for(domains).places == []


def test_rare_places_get_as_much_as_others() -> None:
    conditions = [
        condition("arg", "ranks", "is", 8),
        condition("arg", "backend", "is", "a"),
        condition("arg", "flag", "true"),
    ]
    clauses = tuple(((number,),) for number in range(3))
    aims = Aims(conditions=tuple(conditions), clauses=clauses, places=(((0,),), ((0, 1), (1,), (0, 1, 2)), ((2,),)))
    domains = domains_for([], aims)
    maker = maker_for(domains)
    drawn = [met(maker, stream) for stream in range(900)]
    alone = sum(set(one.args) == {"flag"} for one in drawn)
    assert 200 < alone < 400


def test_both_subjects_aims_are_kept_and_what_they_share_is_there_once() -> None:
    source = (
        "def run(self):\n"
        "    if self.flag:\n        self.backend = 'a'\n"
        "    if self.ranks > {}:\n        raise ValueError\n"
    )
    names = [spec.name for spec in FIELDS]
    subjects = [
        description(*FIELDS, aims=msgspec.convert(harvest({"m": source.format(bound)}, ["run"], names), Aims))
        for bound in (1, 2)
    ]
    united = domains_of(*subjects).aims
    assert len(united.places) == 8
    assert [united.conditions[united.clauses[united.places[n][0][0]][0][0]].values for n in united.refusals] == [
        (1,),
        (2,),
    ]
    assert domains_of(subjects[0], subjects[0]).aims == subjects[0].aims
