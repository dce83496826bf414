"""Every other family, pass by pass and provider by provider."""

from __future__ import annotations

from typing import Any

import pytest
from callables import A100, AMX, B200, CPU, H100, MI300X, MUSA, SM120, XPU, declared

from declarative.engine import Pass
from declarative.families import (
    glm4_moe,
    gpt_oss,
    hybrid,
    llama4,
    mimo_v2,
    minimax_m2,
    moss_vl,
    qwen3,
    sliding_window,
)
from declarative.families.constants import MODEL_OVERRIDES
from declarative.pipeline import REGISTRY
from harness.world.hardware import Hardware

DRIVER_595 = Hardware(platform="cuda", capability=(10, 0), cuda_version="12.9", driver=595, triton_kernels=True)
KERNELS = Hardware(platform="cuda", capability=(9, 0), cuda_version="12.9", triton_kernels=True)


def gpt(step: Pass, hardware: Hardware, args: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return declared(step, hardware, args, architectures=["GptOssForCausalLM"], **more)


@pytest.mark.parametrize(
    ("hardware", "backend"),
    [
        (B200, "trtllm_mha"),
        (H100, "fa3"),
        (AMX, "intel_amx"),
        (XPU, "intel_xpu"),
        (MI300X, "aiter"),
        (A100, "triton"),
        (CPU, "triton"),
    ],
)
def test_gpt_oss_attention(hardware: Hardware, backend: str) -> None:
    step = gpt_oss._gpt_oss_attention_backend
    assert gpt(step, hardware) == {"attention_backend": backend}
    assert gpt(step, hardware, {"decode_attention_backend": "fa4"}) == {}


def test_gpt_oss_refusals() -> None:
    step = gpt_oss._gpt_oss_validation
    assert gpt(step, XPU, {"attention_backend": "triton", "dtype": "bfloat16"}) == {}
    with pytest.raises(NotImplementedError, match="not as half"):
        gpt(step, XPU, {"attention_backend": "triton", "dtype": "half"})
    with pytest.raises(AssertionError, match="not with flashinfer and fa3"):
        gpt(step, H100, {"attention_backend": "fa3", "prefill_attention_backend": "flashinfer"})


@pytest.mark.parametrize(
    ("hardware", "method", "args", "env", "found"),
    [
        (B200, "mxfp4", {}, {}, {"dtype": "bfloat16", "moe_runner_backend": "flashinfer_mxfp4"}),
        (SM120, "mxfp4", {}, {}, {"dtype": "bfloat16", "moe_runner_backend": "marlin"}),
        (MI300X, "mxfp4", {}, {"SGLANG_USE_AITER": "1"}, {"dtype": "bfloat16"}),
        (MI300X, None, {}, {"SGLANG_USE_AITER": "1"}, {"moe_runner_backend": "triton"}),
        (MUSA, None, {}, {"SGLANG_DEEPEP_BF16_DISPATCH": "1"}, {"moe_runner_backend": "deep_gemm"}),
        (KERNELS, None, {}, {}, {"moe_runner_backend": "triton_kernel"}),
        (DRIVER_595, None, {}, {}, {"moe_runner_backend": "triton"}),
        (KERNELS, None, {"ep_size": 2}, {}, {}),
        (KERNELS, None, {"quantization": "fp8"}, {}, {}),
        (A100, None, {}, {}, {}),
        (B200, "mxfp4", {"moe_runner_backend": "triton"}, {}, {"dtype": "bfloat16"}),
    ],
)
def test_gpt_oss_experts(
    hardware: Hardware, method: str | None, args: dict[str, Any], env: dict[str, str], found: dict[str, Any]
) -> None:
    config = None if method is None else {"quant_method": method}
    assert gpt(gpt_oss._gpt_oss_overrides, hardware, args, env=env, quantization_config=config) == found


def test_gpt_oss_triton_kernels_need_all_experts() -> None:
    with pytest.raises(AssertionError, match="set ep_size to 1"):
        gpt(gpt_oss._gpt_oss_overrides, H100, {"moe_runner_backend": "triton_kernel", "ep_size": 2})


def test_mimo() -> None:
    eagle = {"speculative_algorithm": "EAGLE"}
    assert declared(mimo_v2._mimo_v2_overrides, H100, eagle) == {"enable_multi_layer_eagle": True}
    assert declared(mimo_v2._mimo_v2_overrides, H100) == {}

    def checked(args: dict[str, Any], env: dict[str, str] | None = None, **model: Any) -> None:
        names = model.pop("architectures", ["MiMoV2ForCausalLM"])
        assert declared(mimo_v2._mimo_v2_validation, H100, args, env=env, architectures=names, **model) == {}

    fused: dict[str, Any] = {"attention_projection_layout": "fused_qkv", "num_key_value_heads": 4}
    checked({"tp_size": 4}, **fused)
    checked({"tp_size": 8, "dp_size": 2, "enable_dp_attention": True}, **fused)
    checked({"tp_size": 8, "attn_cp_size": 2}, **fused)
    checked({"tp_size": 8, "encoder_only": True}, **fused)
    checked({"tp_size": 8}, architectures=["MiMoV2FlashForCausalLM"], **fused)
    with pytest.raises(ValueError, match="laid out for 4 attention ranks, and there are 8"):
        checked({"tp_size": 8}, **fused)
    with pytest.raises(ZeroDivisionError):
        checked({"attn_cp_size": 0})
    with pytest.raises(ValueError, match="unified radix tree alone"):
        checked({"enable_hierarchical_cache": True})
    checked({"enable_hierarchical_cache": True}, {"SGLANG_ENABLE_UNIFIED_RADIX_TREE": "1"})


@pytest.mark.parametrize(
    "name", ["Step3p5ForCausalLM", "MyStep3p5ForCausalLMNextN", "Step3p7ForConditionalGeneration"]
)
def test_step3p_goes_by_a_part_of_the_name(name: str) -> None:
    assert [listed.name for listed in REGISTRY.providers(name)] == ["_step3p_overrides"]
    step = sliding_window._step3p_attention_backend
    assert declared(step, B200, architectures=[name]) == {"attention_backend": "fa4"}
    assert declared(step, H100, architectures=[name]) == {"attention_backend": "fa3"}
    assert declared(step, A100, architectures=[name]) == {}
    assert declared(step, B200, {"prefill_attention_backend": "fa3"}, architectures=[name]) == {}
    assert declared(step, B200) == {}


def test_step3p_drafts_and_caches() -> None:
    provider = sliding_window._step3p_overrides
    args = {"speculative_algorithm": "EAGLE", "enable_hierarchical_cache": True}
    assert declared(provider, H100, args) == {
        "enable_multi_layer_eagle": True,
        "swa_full_tokens_ratio": 1.0,
        "disable_hybrid_swa_memory": True,
    }
    assert declared(provider, H100) == {}


@pytest.mark.parametrize(
    ("hardware", "backend"),
    [(B200, "trtllm_mha"), (H100, "fa3"), (MI300X, "aiter"), (XPU, "intel_xpu"), (A100, "triton")],
)
def test_llama4(hardware: Hardware, backend: str) -> None:
    step, names = llama4._llama4_overrides, ["Llama4ForCausalLM"]
    assert declared(step, hardware, architectures=names) == {"attention_backend": backend}
    assert declared(step, hardware, {"attention_backend": "triton"}, architectures=names) == {}
    with pytest.raises(AssertionError, match="not with flashinfer"):
        declared(step, hardware, {"attention_backend": "flashinfer"}, architectures=names)
    assert declared(step, hardware, {"device": "cpu"}, architectures=names) == {}


def test_llama4_experts() -> None:
    args = {"attention_backend": "triton", "quantization": "fp8"}
    step, names = llama4._llama4_overrides, ["Llama4ForCausalLM"]
    assert declared(step, B200, args, architectures=names) == {"moe_runner_backend": "flashinfer_trtllm"}
    assert declared(step, H100, args, architectures=names) == {}
    assert declared(step, B200, {**args, "moe_runner_backend": "triton"}, architectures=names) == {}


def test_constants_and_plain_providers() -> None:
    assert MODEL_OVERRIDES == {
        "MistralLarge3ForCausalLM": {"dtype": "bfloat16"},
        "PixtralForConditionalGeneration": {"dtype": "bfloat16"},
        "Olmo2ForCausalLM": {"disable_hybrid_swa_memory": True},
    }
    assert declared(sliding_window._gemma2_gemma3_overrides, H100) == {"disable_hybrid_swa_memory": True}
    assert declared(minimax_m2._minimax_m2_overrides, H100) == {"enable_tf32_matmul": True}
    for name, providers in (
        ("Gemma3ForCausalLM", ["_gemma2_gemma3_overrides"]),
        ("MiniMaxM2ForCausalLM", ["_minimax_m2_overrides"]),
        ("MiniMaxM2ForCausalLMNextN", []),
        ("MiMoV2FlashForCausalLM", ["_mimo_v2_overrides"]),
        ("ExaoneMoEForCausalLM", ["_exaone_overrides"]),
        ("Olmo2ForCausalLM", ["MODEL_OVERRIDES['Olmo2ForCausalLM']"]),
    ):
        assert [listed.name for listed in REGISTRY.providers(name)] == providers


def test_gemma4() -> None:
    def found(hardware: Hardware, args: dict[str, Any] | None = None, **model: Any) -> dict[str, Any]:
        return declared(
            sliding_window._gemma4_overrides, hardware, args, architectures=["Gemma4ForCausalLM"], **model
        )

    assert found(B200) == {"attention_backend": "trtllm_mha"}
    assert found(H100) == {"attention_backend": "triton"}
    assert found(H100, {"attention_backend": "ascend"}) == {}
    assert found(H100, {"prefill_attention_backend": "intel_xpu"}) == {"attention_backend": "triton"}
    with pytest.raises(AssertionError, match="not with fa3 and triton"):
        found(H100, {"prefill_attention_backend": "fa3"})
    fp4 = {"quantization": "modelopt_fp4", "moe_runner_backend": "flashinfer_trtllm"}
    triton = {"attention_backend": "triton"}
    assert found(B200, triton, detected_quantization="modelopt_fp4") == fp4
    assert found(H100, triton, detected_quantization="modelopt_fp4") == {}
    assert found(B200, {**triton, "moe_runner_backend": "triton"}, detected_quantization="modelopt_fp4") == {}


def test_moss_vl() -> None:
    step, names = moss_vl._moss_vl_overrides, ["MossVLForConditionalGeneration"]
    assert declared(step, H100, architectures=names) == {"prefill_attention_backend": "flashinfer"}
    assert declared(step, H100, {"attention_backend": "flashinfer"}, architectures=names) == {}
    with pytest.raises(AssertionError, match="flashinfer alone prefills"):
        declared(step, H100, {"decode_attention_backend": "flashinfer"}, architectures=names)


def test_exaone() -> None:
    windows: dict[str, Any] = {"sliding_window_pattern": "LLLG", "architectures": ["Exaone4ForCausalLM"]}
    assert declared(sliding_window._exaone_overrides, H100, **windows) == {"disable_hybrid_swa_memory": True}
    assert declared(sliding_window._exaone_overrides, H100, architectures=["Exaone4ForCausalLM"]) == {}
    step = sliding_window._exaone_validation
    assert declared(step, H100, {"attention_backend": "fa3"}, **windows) == {}
    assert declared(step, H100, architectures=["Exaone4ForCausalLM"]) == {}
    with pytest.raises(AssertionError, match="not None"):
        declared(step, H100, **windows)


def test_olmo() -> None:
    step, names = sliding_window._olmo2_overrides, ["Olmo2ForCausalLM"]
    for hardware, backend in ((B200, "trtllm_mha"), (A100, "fa3"), (MI300X, "triton")):
        assert declared(step, hardware, architectures=names) == {"attention_backend": backend}
    assert declared(step, H100, {"attention_backend": "triton"}, architectures=names) == {}
    with pytest.raises(AssertionError, match="too slow"):
        declared(step, H100, {"attention_backend": "flashinfer"}, architectures=names)


@pytest.mark.parametrize(
    ("hardware", "args", "model", "found"),
    [
        (B200, {}, {}, {"moe_runner_backend": "flashinfer_trtllm", "attention_backend": "flashinfer"}),
        (H100, {}, {}, {"moe_runner_backend": "flashinfer_cutlass"}),
        (H100, {"moe_runner_backend": "triton"}, {}, {}),
        (H100, {}, {"detected_quantization": "fp8"}, {}),
        (
            H100,
            {},
            {"detected_quantization": "modelopt_fp4"},
            {"quantization": "modelopt_fp4", "moe_runner_backend": "marlin"},
        ),
        (
            H100,
            {},
            {"detected_quantization": "modelopt", "quantization_config": {"quant_algo": "NVFP4"}},
            {"quantization": "modelopt_fp4", "moe_runner_backend": "marlin"},
        ),
        (
            H100,
            {},
            {"detected_quantization": "modelopt", "quantization_config": {"quant_algo": "MIXED_PRECISION"}},
            {"quantization": "modelopt_mixed", "moe_runner_backend": "flashinfer_cutlass"},
        ),
        (
            H100,
            {},
            {"detected_quantization": "modelopt", "quantization_config": {"quant_algo": "FP8"}},
            {"quantization": "modelopt_fp8", "moe_runner_backend": "flashinfer_cutlass"},
        ),
    ],
)
def test_nemotron(hardware: Hardware, args: dict[str, Any], model: dict[str, Any], found: dict[str, Any]) -> None:
    names = ["NemotronHForCausalLM"]
    assert declared(hybrid._nemotron_h_overrides, hardware, args, architectures=names, **model) == found


def test_nemotron_refusals() -> None:
    model: dict[str, Any] = {"architectures": ["NemotronHForCausalLM"], "detected_quantization": "modelopt_fp4"}
    with pytest.raises(AssertionError, match="activates with relu2"):
        declared(hybrid._nemotron_h_overrides, H100, **model, mlp_hidden_act="silu")
    with pytest.raises(TypeError, match="'<=' not supported"):
        declared(hybrid._nemotron_h_overrides, Hardware(platform="cuda"), **model)
    for name, words in (("NemotronHForCausalLM", "Nemotron-H cannot"), ("Lfm2ForCausalLM", "Lfm2ForCausalLM cannot")):
        with pytest.raises(AssertionError, match=words):
            declared(hybrid._first_layer_validation, H100, {"attention_backend": "triton"}, architectures=[name])
        assert declared(hybrid._first_layer_validation, H100, architectures=[name]) == {}


@pytest.mark.parametrize(
    ("step", "architecture"),
    [
        (qwen3._qwen3_moe_family_overrides, "Qwen3MoeForCausalLM"),
        (glm4_moe._glm4_moe_overrides, "Glm4MoeForCausalLM"),
    ],
)
def test_checkpoints_methods_on_sm100(step: Pass, architecture: str) -> None:
    def found(hardware: Hardware, args: dict[str, Any] | None = None) -> dict[str, Any]:
        config = {"quant_method": "modelopt_fp4"}
        return declared(step, hardware, args, architectures=[architecture], quantization_config=config)

    runner = {"moe_runner_backend": "flashinfer_trtllm"}
    assert found(B200) == {"quantization": "modelopt_fp4", **runner}
    assert found(H100) == {}
    assert found(B200, {"quantization": "awq"}) == {}
    assert found(B200, {"quantization": "modelopt_fp4"}) == runner
    for kept in ({"moe_runner_backend": "triton"}, {"moe_a2a_backend": "deepep"}):
        assert found(B200, kept) == {"quantization": "modelopt_fp4"}


def test_qwen3_5_declares_backend_and_pages_together() -> None:
    def found(hardware: Hardware, args: dict[str, Any] | None = None) -> dict[str, Any]:
        names = ["Qwen3_5ForConditionalGeneration"]
        return declared(qwen3._qwen3_5_hybrid_overrides, hardware, args, architectures=names)

    paged = {"attention_backend": "trtllm_mha", "page_size": 64}
    single = {"attention_backend": "triton", "page_size": 1}
    assert found(B200) == single
    assert found(B200, {"mamba_radix_cache_strategy": "extra_buffer"}) == paged
    assert found(B200, {"disable_radix_cache": True}) == paged
    assert found(B200, {"disable_radix_cache": True, "speculative_eagle_topk": 2}) == single
    assert found(B200, {"attention_backend": "fa3"}) == found(H100) == {}


def test_qwen3_vl_pages() -> None:
    step, names, env = (
        qwen3._qwen3vl_overrides,
        ["Qwen3VLForConditionalGeneration"],
        {"SGLANG_USE_AITER_UNIFIED_ATTN": "1"},
    )
    assert declared(step, MI300X, env=env, architectures=names) == {"page_size": 16}
    assert declared(step, MI300X, {"page_size": 1}, env=env, architectures=names) == {}
    assert declared(step, MI300X, architectures=names) == declared(step, H100, env=env, architectures=names) == {}


@pytest.mark.parametrize(
    ("step", "architecture", "backend"),
    [
        (hybrid._minicpm_v4_6_overrides, "MiniCPMV4_6ForConditionalGeneration", "triton"),
        (hybrid._falcon_h1_jet_overrides, "FalconH1ForCausalLM", "triton"),
        (hybrid._falcon_h1_jet_overrides, "JetVLMForConditionalGeneration", "triton"),
        (hybrid._granite_moe_hybrid_overrides, "GraniteMoeHybridForCausalLM", "flashinfer"),
        (hybrid._lfm2_overrides, "Lfm2ForCausalLM", "flashinfer"),
    ],
)
def test_attention_between_state_layers(step: Pass, architecture: str, backend: str) -> None:
    def found(hardware: Hardware, args: dict[str, Any] | None = None) -> dict[str, Any]:
        return declared(step, hardware, args, architectures=[architecture], layer_types=["mamba"])

    assert found(B200) == {"attention_backend": backend}
    assert found(B200, {"attention_backend": "fa3"}) == found(H100) == {}
    assert declared(step, B200) == {}
