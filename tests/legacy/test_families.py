"""What each family's branch decides on the machines that it tells apart, without the wheel at hand."""

from __future__ import annotations

from typing import Any

import pytest

import legacy
from harness.world.case import Case, Outcome
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.profiles import hardware_profile

CPU_AMX = Hardware(platform="cpu", amx=True)
NPU = Hardware(platform="npu", memory_mib=65536)
XPU = Hardware(platform="xpu", xmx=True)
SM120 = hardware_profile("rtx-pro-6000-blackwell")
H100, B200, MI300X = (hardware_profile(name) for name in ("h100", "b200", "mi300x"))


def outcome(
    architecture: str,
    machine: Hardware,
    args: dict[str, Any] | None = None,
    env: dict[str, str] | None = None,
    **model: Any,
) -> Outcome:
    described = Model(architectures=[architecture], **model)
    return legacy.resolve(Case(id="c", args=args or {}, hardware=machine, model=described, env=env or {}))


def fields(*given: Any, **model: Any) -> dict[str, Any]:
    found = outcome(*given, **model)
    assert found.fields is not None, found.error
    return found.fields


def refusal(*given: Any, **model: Any) -> tuple[str, str]:
    found = outcome(*given, **model)
    assert found.error is not None
    return found.error.type, found.error.origin


def some(found: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(found[name] for name in names)


@pytest.mark.parametrize(
    ("machine", "attention", "prefill", "decode", "dtype", "page"),
    [
        (H100, "dsa", "flashmla_sparse", "fa3", "bfloat16", 64),
        (B200, "dsa", "trtllm", "trtllm", "fp8_e4m3", 64),
        (MI300X, "dsa", "tilelang", "tilelang", "bfloat16", 1),
    ],
)
def test_deepseek_sparse_attention(
    machine: Hardware, attention: str, prefill: str, decode: str, dtype: str, page: int
) -> None:
    found = fields("DeepseekV32ForCausalLM", machine, attention="mla", index_topk=2048)
    names = ("attention_backend", "dsa_prefill_backend", "dsa_decode_backend", "kv_cache_dtype", "page_size")
    assert some(found, *names) == (attention, prefill, decode, dtype, page)
    assert outcome("DeepseekV32ForCausalLM", machine, index_topk=2048).env == {
        "SGLANG_DSA_PREFILL_DENSE_ATTN_KV_LEN_THRESHOLD": "2048"
    }


def test_deepseek_context_parallelism() -> None:
    args = {"enable_prefill_cp": True, "tp_size": 8, "cp_strategy": "zigzag"}
    found = fields("DeepseekV32ForCausalLM", H100, args, index_topk=2048)
    assert some(found, "moe_a2a_backend", "ep_size", "attn_cp_size", "moe_dense_tp_size") == ("deepep", 8, 8, 1)
    interleaved = {**args, "cp_strategy": "interleave", "dp_size": 2}
    assert refusal("DeepseekV32ForCausalLM", H100, interleaved, index_topk=2048)[0] == "AssertionError"


def test_deepseek_v3_detects_fp8_experts_unless_told_not_to() -> None:
    def quantization(args: dict[str, Any]) -> Any:
        return fields("DeepseekV3ForCausalLM", B200, args, attention="mla", fp8_weights=True)["quantization"]

    assert quantization({}) == "fp8"
    assert quantization({"quantization": "unquant"}) is None


def test_deepseek_draft_experts_on_rocm() -> None:
    args = {"quantization": "modelopt_fp4", "speculative_algorithm": "EAGLE"}
    names = ("speculative_moe_runner_backend", "speculative_moe_a2a_backend")
    assert some(fields("DeepseekV3ForCausalLM", MI300X, args), *names) == ("triton", "none")
    env = {"SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE": "1"}
    assert some(fields("DeepseekV3ForCausalLM", MI300X, args | {"ep_size": 8}, env), *names) == (
        "deep_gemm",
        "deepep",
    )
    assert refusal("DeepseekV3ForCausalLM", MI300X, args, env) == ("ValueError", "_choose_draft_experts")


def test_deepseek_v4() -> None:
    names = ("attention_backend", "page_size", "kv_cache_dtype", "swa_full_tokens_ratio", "moe_runner_backend")
    found = fields("DeepseekV4ForCausalLM", B200, nvfp4_moe=True)
    assert some(found, *names) == ("dsv4", 256, "fp8_e4m3", 0.1, "flashinfer_trtllm_routed")
    assert some(fields("DeepseekV4ForCausalLM", NPU), *names[:3]) == ("dsv4", 128, "bfloat16")
    sm120 = outcome("DeepseekV4ForCausalLM", SM120)
    assert sm120.fields is not None
    assert sm120.fields["moe_runner_backend"] == "marlin"
    assert len(sm120.env) == 5
    assert len(outcome("DeepseekV4ForCausalLM", MI300X).env) == 11


@pytest.mark.parametrize(
    ("machine", "attention", "experts"),
    [
        (H100, "fa3", "triton_kernel"),
        (B200, "trtllm_mha", "flashinfer_mxfp4"),
        (SM120, "triton", "marlin"),
        (MI300X, "aiter", "auto"),
        (XPU, "intel_xpu", "auto"),
    ],
)
def test_gpt_oss(machine: Hardware, attention: str, experts: str) -> None:
    env = {"SGLANG_USE_AITER": "1"}
    found = fields("GptOssForCausalLM", machine, {}, env, quantization_config={"quant_method": "mxfp4"})
    assert some(found, "attention_backend", "moe_runner_backend", "dtype") == (attention, experts, "bfloat16")


def test_gpt_oss_refuses_the_type_before_the_backend() -> None:
    args = {"dtype": "half", "attention_backend": "fa3"}
    assert refusal("GptOssForCausalLM", XPU, args)[0] == "NotImplementedError"
    assert refusal("GptOssForCausalLM", H100, {"attention_backend": "flashinfer"})[0] == "AssertionError"


def test_mimo_v2_asks_for_its_layout_before_its_cache() -> None:
    layout = {"attention_projection_layout": "fused_qkv", "num_key_value_heads": 4}
    args = {"tp_size": 8, "enable_hierarchical_cache": True}
    assert refusal("MiMoV2ForCausalLM", H100, args, **layout) == ("ValueError", "_adjust_mimo_v2")
    assert fields("MiMoV2ForCausalLM", H100, {"tp_size": 4, "speculative_algorithm": "EAGLE"}, **layout)[
        "enable_multi_layer_eagle"
    ]
    assert refusal("MiMoV2ForCausalLM", H100, {"attn_cp_size": 0})[0] == "ZeroDivisionError"


@pytest.mark.parametrize("name", ["Step3p5ForCausalLM", "OtherStep3p5ForCausalLMNextN"])
def test_step3_matches_by_part_of_the_name(name: str) -> None:
    found = fields(name, B200, {"enable_hierarchical_cache": True})
    assert some(found, "attention_backend", "swa_full_tokens_ratio", "disable_hybrid_swa_memory") == (
        "fa4",
        1.0,
        True,
    )


def test_llama4_is_a_plain_model_on_a_cpu() -> None:
    assert fields("Llama4ForCausalLM", CPU_AMX)["attention_backend"] == "intel_amx"
    assert fields("Llama4ForCausalLM", H100)["attention_backend"] == "fa3"
    assert refusal("Llama4ForCausalLM", H100, {"attention_backend": "flashinfer"})[0] == "AssertionError"


def test_gemma() -> None:
    assert fields("Gemma2ForCausalLM", H100)["disable_hybrid_swa_memory"]
    assert fields("Gemma4ForCausalLM", H100)["attention_backend"] == "triton"
    one_phase = fields("Gemma4ForCausalLM", H100, {"decode_attention_backend": "triton"})
    assert one_phase["attention_backend"] == "triton"
    fp4 = fields("Gemma4ForCausalLM", B200, detected_quantization="modelopt_fp4")
    assert some(fp4, "quantization", "moe_runner_backend") == ("modelopt_fp4", "flashinfer_trtllm")


def test_moss_vl_exaone_and_olmo() -> None:
    assert fields("MossVLForConditionalGeneration", H100)["prefill_attention_backend"] == "flashinfer"
    windows = {"sliding_window_pattern": 4}
    assert refusal("Exaone4ForCausalLM", H100, **windows)[0] == "AssertionError"
    assert fields("Exaone4ForCausalLM", H100, {"attention_backend": "fa3"}, **windows)["disable_hybrid_swa_memory"]
    assert fields("Olmo2ForCausalLM", hardware_profile("a100-80g"))["attention_backend"] == "fa3"
    assert refusal("Olmo2ForCausalLM", H100, {"attention_backend": "flashinfer"})[0] == "AssertionError"


@pytest.mark.parametrize(
    ("name", "model", "attention", "strategy"),
    [
        ("KimiLinearForCausalLM", {}, "trtllm_mha", None),
        ("BailingMoeV2_5ForCausalLM", {}, "trtllm_mha", "extra_buffer"),
        ("Qwen3NextForCausalLM", {}, "triton", "extra_buffer"),
        ("MiniCPMV4_6ForConditionalGeneration", {}, "triton", "extra_buffer"),
        ("FalconH1ForCausalLM", {}, "triton", "extra_buffer"),
        ("JetNemotronForCausalLM", {}, "triton", "no_buffer"),
        ("GraniteMoeHybridForCausalLM", {"layer_types": ["mamba"]}, "flashinfer", "extra_buffer"),
        ("GraniteMoeHybridForCausalLM", {"layer_types": ["attention"]}, "trtllm_mha", "auto"),
        ("Lfm2ForCausalLM", {}, "flashinfer", "no_buffer"),
        ("ZayaForCausalLM", {}, "trtllm_mha", None),
        ("NemotronHForCausalLM", {}, "flashinfer", "extra_buffer"),
    ],
)
def test_hybrid_families_on_sm100(name: str, model: dict[str, Any], attention: str, strategy: str | None) -> None:
    found = fields(name, B200, **model)
    assert found["attention_backend"] == attention
    assert found["mamba_radix_cache_strategy"] == (strategy or "no_buffer")
    assert found["uses_mamba_radix_cache"] == (strategy != "auto")
    assert found["disable_overlap_schedule"] == (found["mamba_radix_cache_strategy"] == "no_buffer")


def test_qwen3_hybrid_takes_pages_where_its_states_allow() -> None:
    args = {"mamba_radix_cache_strategy": "extra_buffer"}
    assert some(fields("Qwen3NextForCausalLM", B200, args), "attention_backend", "page_size") == ("trtllm_mha", 64)
    assert some(fields("Qwen3NextForCausalLM", B200), "attention_backend", "page_size") == ("triton", 1)


def test_nemotron_h_takes_the_checkpoints_quantization() -> None:
    declared = {"quantization_config": {"quant_algo": "NVFP4"}, "detected_quantization": "modelopt"}
    found = fields("NemotronHForCausalLM", H100, **declared)
    assert some(found, "quantization", "moe_runner_backend") == ("modelopt_fp4", "marlin")
    assert refusal("NemotronHForCausalLM", H100, **declared, mlp_hidden_act="silu")[0] == "AssertionError"
    assert refusal("NemotronHForCausalLM", H100, detected_quantization="modelopt")[0] == "TypeError"


def test_glm4_and_minimax() -> None:
    fp4 = {"quantization_config": {"quant_method": "modelopt_fp4"}}
    found = fields("Glm4MoeForCausalLM", B200, **fp4)
    assert some(found, "quantization", "moe_runner_backend") == ("modelopt_fp4", "flashinfer_trtllm")
    assert fields("MiniMaxM2ForCausalLM", H100)["enable_tf32_matmul"] is True
    assert fields("LlamaForCausalLM", H100)["enable_tf32_matmul"] is False


@pytest.mark.parametrize("name", ["attention_backend", "prefill_attention_backend", "decode_attention_backend"])
def test_fa4_forces_pages_of_128_whichever_field_names_it(name: str) -> None:
    assert fields("LlamaForCausalLM", B200, {name: "fa4"})["page_size"] == 128
    assert fields("LlamaForCausalLM", H100, {name: "fa4"})["page_size"] == 1
    assert fields("LlamaForCausalLM", B200, {name: "fa4"}, attention="mla")["page_size"] == 1


def test_allreduce_fusion_across_families() -> None:
    def fusion(machine: Hardware, **args: Any) -> Any:
        return fields("GptOssForCausalLM", machine, args)["flashinfer_allreduce_fusion_backend"]

    assert fusion(H100, tp_size=2) == "auto"
    assert fusion(H100) is None
    assert fusion(H100, tp_size=2, nnodes=2) is None
    assert fusion(B200, tp_size=2, nnodes=2) == "auto"
    assert fusion(H100, tp_size=2, enforce_disable_flashinfer_allreduce_fusion=True) is None
    assert fusion(H100, enable_flashinfer_allreduce_fusion=True) == "auto"


def test_a_model_taken_from_a_running_server_has_no_branch() -> None:
    found = fields("DeepseekV32ForCausalLM", H100, {"model_path": "instance://host"}, index_topk=2048)
    assert some(found, "attention_backend", "kv_cache_dtype") == ("fa3", "auto")


def test_the_npus_own_backend_yields_to_deepseek_v4_alone() -> None:
    assert fields("LlamaForCausalLM", NPU)["decode_attention_backend"] == "ascend"
    assert fields("DeepseekV4ForCausalLM", NPU)["decode_attention_backend"] == "dsv4"
