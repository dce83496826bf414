"""What ``legacy.resolve`` promises whatever the handlers decide."""

from __future__ import annotations

import copy
import os

import msgspec
import pytest
from aimed import aimed_cases

import legacy
from harness.common.errors import UsageError
from harness.formats.contract import encode_outcome, parse_outcome
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.profiles import hardware_profile, model_profile
from legacy import arguments


def resolved(case: Case) -> dict[str, object]:
    outcome = legacy.resolve(case)
    assert outcome.error is None, outcome.error
    assert outcome.fields is not None
    return outcome.fields


def test_a_silent_case_starts_from_the_entry_state() -> None:
    fields = resolved(Case(id="c"))
    assert list(fields) == [*legacy.FIELDS, *legacy.STATE]
    assert fields["mem_fraction_static"] == 0.85
    assert fields["cuda_graph_config.decode.backend"] == "full"
    assert fields["cuda_graph_config.prefill.backend"] == "tc_piecewise"
    assert fields["page_size"] == 1


def test_a_partial_graph_configuration_keeps_the_rest() -> None:
    given = {"decode": {"backend": "breakable"}}
    fields = resolved(Case(id="c", args={"cuda_graph_config": given}, hardware=hardware_profile("h100")))
    assert fields["cuda_graph_config.decode.backend"] == "breakable"
    assert fields["cuda_graph_config.prefill.backend"] == "tc_piecewise"
    assert given == {"decode": {"backend": "breakable"}}


def test_a_refusal_is_an_outcome_and_says_who_raised() -> None:
    case = Case(
        id="c",
        args={"attention_backend": "trtllm_mla"},
        hardware=hardware_profile("h100"),
        env={"SGLANG_EMBEDDINGS_SPARSE_HEAD": "x"},
    )
    outcome = legacy.resolve(case)
    assert outcome.fields is None
    assert outcome.error is not None
    assert (outcome.error.type, outcome.error.origin) == ("ValueError", "_fit_nvidia_mla_backends")
    assert "Blackwell" in outcome.error.message


def test_the_origin_may_be_a_function_outside_the_record() -> None:
    case = Case(
        id="c",
        args={"kv_cache_dtype": "bf16"},
        model=Model(architectures=["DeepseekV4ForCausalLM"]),
        hardware=hardware_profile("b200"),
    )
    error = legacy.resolve(case).error
    assert error is not None
    assert (error.type, error.origin) == ("AssertionError", "apply_deepseek_v4_defaults")


def test_environment_changes_are_reported_and_stay_in_the_case() -> None:
    before = dict(os.environ)
    case = Case(
        id="c",
        args={"rl_on_policy_target": "fsdp", "tp_size": 2},
        hardware=hardware_profile("h100"),
        env={"SGLANG_ENABLE_DETERMINISTIC_INFERENCE": "True", "NCCL_ALGO": "Ring", "OTHER": "1"},
    )
    given = dict(case.env)
    assert legacy.resolve(case).env == {"NCCL_ALGO": "allreduce:tree", "SGLANG_VLM_CACHE_SIZE_MB": "0"}
    assert case.env == given
    assert dict(os.environ) == before


def test_the_process_environment_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(id="c", model=model_profile("gpt-oss-120b"), hardware=hardware_profile("mi300x"))
    outcome = legacy.resolve(case)
    monkeypatch.setenv("SGLANG_USE_AITER", "1")
    monkeypatch.setenv("SGLANG_EMBEDDINGS_SPARSE_HEAD", "1")
    assert legacy.resolve(case) == outcome


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"tp_size": "8"}, "args.tp_size must be an integer"),
        ({"tp_size": True}, "args.tp_size must be an integer"),
        ({"page_size": 64.0}, "args.page_size must be an integer or null"),
        ({"enable_dp_attention": 1}, "args.enable_dp_attention must be true or false"),
        ({"attention_backend": ["fa3"]}, "args.attention_backend must be a string or null"),
        ({"atention_backend": "fa3"}, "did you mean 'attention_backend'"),
        ({"uses_mamba_radix_cache": True}, "unknown key args.uses_mamba_radix_cache"),
    ],
)
def test_what_is_no_argument_is_refused_by_name(args: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match="case c: ") as refusal:
        legacy.resolve(Case(id="c", args=args))
    assert words in str(refusal.value)


def test_every_argument_is_refused_by_name_with_a_value_of_another_type() -> None:
    for name, spec in arguments().items():
        if spec.type != "object":
            with pytest.raises(UsageError, match=rf"args\.{name} "):
                legacy.resolve(Case(id="c", args={name: {}}))


def test_an_unknown_architecture_resolves_as_a_plain_model() -> None:
    for name in ("h100", "b200", "mi300x"):
        machine = hardware_profile(name)
        unknown = resolved(Case(id="c", hardware=machine, model=Model(architectures=["NeverHeardOfForCausalLM"])))
        assert unknown == resolved(Case(id="c", hardware=machine, model=Model()))


def test_a_case_is_not_changed_and_gives_the_same_outcome_again() -> None:
    for case in aimed_cases(5, 1_000):
        before = copy.deepcopy(case)
        first = legacy.resolve(case)
        assert legacy.resolve(case) == first
        assert case == before
        assert parse_outcome(encode_outcome(first), "here") == msgspec.json.decode(
            msgspec.json.encode(first), type=type(first)
        )


def test_a_machine_without_capability_is_a_type_error_for_sparse_attention() -> None:
    case = Case(id="c", model=model_profile("deepseek-v3.2"), hardware=Hardware(platform="cpu"))
    error = legacy.resolve(case).error
    assert error is not None
    assert error.type == "TypeError"
