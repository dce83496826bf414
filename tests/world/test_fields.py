from __future__ import annotations

import pytest
from world_strategies import refused

from harness.world.fields import FieldSpec, check_args

FIELDS = {
    spec.name: spec
    for spec in (
        FieldSpec(name="model_path", type="str", required=True),
        FieldSpec(name="tp_size", type="int", default=1, flags=("--tp", "--tp-size")),
        FieldSpec(name="mem_fraction_static", type="float", optional=True),
        FieldSpec(name="swa_full_tokens_ratio", type="float", default=0.8),
        FieldSpec(name="attention_backend", type="str", choices=("fa3", "triton"), optional=True),
        FieldSpec(name="kv_cache_dtype", type="str", default="auto"),
        FieldSpec(name="quantization", type="str"),
        FieldSpec(name="enable_dp_attention", type="bool", default=False),
        FieldSpec(name="buckets", type="list", item="int", optional=True),
        FieldSpec(name="anything_listed", type="list", default=[]),
        FieldSpec(name="cuda_graph_config", type="object"),
    )
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tp_size", 8),
        ("mem_fraction_static", 1),
        ("mem_fraction_static", 0.85),
        ("mem_fraction_static", None),
        ("attention_backend", "no_such_choice"),
        ("quantization", None),
        ("enable_dp_attention", True),
        ("buckets", [1, 2]),
        ("buckets", []),
        ("anything_listed", [1, "a", None]),
        ("cuda_graph_config", {"decode": {"backend": "full"}}),
        ("cuda_graph_config", 3),
        ("cuda_graph_config", None),
    ],
)
def test_a_value_of_the_type_passes(name: str, value: object) -> None:
    check_args({name: value}, FIELDS, "cases.jsonl:3")


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("tp_size", "8", "args.tp_size must be an integer, not '8'"),
        ("tp_size", True, "args.tp_size must be an integer, not true"),
        ("tp_size", 8.0, "args.tp_size must be an integer, not 8.0"),
        ("tp_size", None, "args.tp_size must be an integer, not null"),
        ("model_path", None, "args.model_path must be a string, not null"),
        ("mem_fraction_static", "0.8", "args.mem_fraction_static must be a number or null, not '0.8'"),
        ("swa_full_tokens_ratio", False, "args.swa_full_tokens_ratio must be a number, not false"),
        ("kv_cache_dtype", None, "args.kv_cache_dtype must be a string, not null"),
        ("quantization", ["fp8"], "args.quantization must be a string or null, not ['fp8']"),
        ("enable_dp_attention", 1, "args.enable_dp_attention must be true or false, not 1"),
        ("buckets", "12", "args.buckets must be a list or null, not '12'"),
        ("buckets", [1, "2"], "args.buckets[1] must be an integer, not '2'"),
        ("tp_sise", 8, "unknown key args.tp_sise (did you mean 'tp_size'?)"),
    ],
)
def test_a_wrong_argument_is_named(name: str, value: object, sentence: str) -> None:
    assert refused(check_args, {name: value}, FIELDS, "cases.jsonl:3") == f"cases.jsonl:3: {sentence}"


def test_an_unlike_name_still_gets_names() -> None:
    sentence = refused(check_args, {"zzz": 1}, FIELDS, "x:1")
    assert sentence.startswith("x:1: unknown key args.zzz (the nearest names are ")


def test_long_names_and_values_are_abbreviated() -> None:
    assert len(refused(check_args, {"x" * 10**7: 1}, FIELDS, "x:1")) < 300
    assert len(refused(check_args, {"tp_size": "x" * 10**7}, FIELDS, "x:1")) < 300
    assert len(refused(check_args, {"tp_size": {"k" * 100: ["v" * 100] * 100}}, FIELDS, "x:1")) < 300


def test_no_fields_at_all() -> None:
    assert refused(check_args, {"tp_size": 1}, {}, "x:1") == "x:1: unknown key args.tp_size"
