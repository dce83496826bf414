"""The DeepSeek families, pass by pass."""

from __future__ import annotations

from typing import Any

import pytest
from callables import A100, B200, H100, MI300X, NPU, SM120, XPU, declared

from declarative.families import deepseek_v3 as v3
from declarative.families import deepseek_v4 as v4

SPARSE: dict[str, Any] = {"architectures": ["DeepseekV32ForCausalLM"], "attention": "mla", "index_topk": 2048}
DENSE: dict[str, Any] = {"architectures": ["DeepseekV3ForCausalLM"], "attention": "mla"}
V4: dict[str, Any] = {"architectures": ["DeepseekV4ForCausalLM"]}
THRESHOLD = "SGLANG_DSA_PREFILL_DENSE_ATTN_KV_LEN_THRESHOLD"
CONTEXT = {"enable_prefill_cp": True, "tp_size": 8}
NO_GRAPH = {"cuda_graph_config.prefill.backend": "disabled"}


def test_sparse_attention_and_its_threshold() -> None:
    step = v3._dsa_attention_defaults
    assert declared(step, H100, **SPARSE) == {"attention_backend": "dsa", THRESHOLD: 2048}
    assert declared(step, H100, {"decode_attention_backend": "fa3"}, env={THRESHOLD: "1"}, **SPARSE) == {}
    assert declared(step, H100, **DENSE) == {}
    # An architecture without an indexer's code, whatever its config says.
    assert declared(step, H100, architectures=["KimiK25ForConditionalGeneration"], index_topk=4) == {}


@pytest.mark.parametrize("shared", [{"index_topk_freq": 2}, {"index_topk_pattern": "FSF"}])
def test_shared_indices_do_not_overlap(shared: dict[str, Any]) -> None:
    step, args = v3._dsa_two_batch_overlap_validation, {"enable_two_batch_overlap": True}
    with pytest.raises(ValueError, match="share their top-k indices"):
        declared(step, H100, args, **SPARSE, **shared)
    assert declared(step, H100, **SPARSE, **shared) == {}
    assert declared(step, H100, args, **SPARSE, index_topk_pattern="FF") == {}


def test_a_split_sparse_context() -> None:
    step = v3._dsa_context_parallelism
    interleaved = {"enable_dp_attention": True, "moe_dense_tp_size": 1, "attn_cp_size": 8, **NO_GRAPH}
    assert declared(step, H100, CONTEXT, **SPARSE) == interleaved
    zigzag = {**CONTEXT, "cp_strategy": "zigzag"}
    assert declared(step, H100, zigzag, **SPARSE) == {**interleaved, "moe_a2a_backend": "deepep", "ep_size": 8}
    assert declared(step, H100, {**zigzag, "dp_size": 2}, **SPARSE)["attn_cp_size"] == 4
    for machine in (NPU, XPU):
        assert declared(step, machine, CONTEXT, **SPARSE) == {}
    assert declared(step, H100, **SPARSE) == declared(step, H100, CONTEXT, **DENSE) == {}
    with pytest.raises(AssertionError, match="interleaved context leaves no rank"):
        declared(step, H100, {**CONTEXT, "dp_size": 2, "tp_size": 16}, **SPARSE)
    with pytest.raises(AssertionError, match="one machine of 8 devices"):
        declared(step, H100, {**zigzag, "dp_size": 0, "tp_size": 16}, **SPARSE)
    with pytest.raises(ZeroDivisionError):
        declared(step, H100, {**zigzag, "dp_size": 0}, **SPARSE)


def test_sparse_pages() -> None:
    step = v3._dsa_page_size
    assert declared(step, H100, {"page_size": 1}, **SPARSE) == {"page_size": 64}
    assert declared(step, MI300X, **SPARSE) == {"page_size": 1}
    assert declared(step, NPU, **SPARSE) == declared(step, H100, **DENSE) == {}


def test_a_decode_server_splits_no_context() -> None:
    step = v3._dsa_context_parallelism_validation
    assert declared(step, H100, CONTEXT, **SPARSE) == {}
    with pytest.raises(AssertionError, match="a decode server has no prefill"):
        declared(step, H100, {**CONTEXT, "disaggregation_mode": "decode"}, **SPARSE)


def test_dense_latent_attention() -> None:
    step = v3._deepseek_family_overrides
    assert declared(step, B200, **DENSE) == {"attention_backend": "trtllm_mla"}
    assert declared(step, B200, {"prefill_attention_backend": "fa4"}, **DENSE) == declared(step, H100, **DENSE) == {}
    assert declared(step, B200, **SPARSE) == {}
    assert declared(step, H100, {**CONTEXT, "dp_size": 2}, **DENSE) == {
        "enable_dp_attention": True,
        "moe_dense_tp_size": 1,
        "moe_a2a_backend": "deepep",
        "ep_size": 8,
        "attn_cp_size": 4,
        **NO_GRAPH,
    }
    assert declared(step, H100, CONTEXT, architectures=["DeepseekV3ForCausalLM"]) == {}


@pytest.mark.parametrize(
    ("args", "model", "found"),
    [
        ({}, {"fp8_weights": True}, {"quantization": "fp8", "moe_runner_backend": "flashinfer_trtllm"}),
        ({}, {}, {"moe_runner_backend": "flashinfer_trtllm"}),
        ({"quantization": "fp8"}, {}, {"moe_runner_backend": "flashinfer_trtllm"}),
        ({"quantization": "awq"}, {"fp8_weights": True}, {}),
        ({}, {"quantization_config": {"quant_method": "awq"}}, {"quantization": "awq"}),
        ({"moe_runner_backend": "triton"}, {"fp8_weights": True}, {"quantization": "fp8"}),
        ({"moe_a2a_backend": "deepep"}, {"fp8_weights": True}, {"quantization": "fp8"}),
    ],
)
def test_experts_on_sm100(args: dict[str, Any], model: dict[str, Any], found: dict[str, Any]) -> None:
    assert declared(v3._deepseek_moe_quant_resolution, B200, args, **DENSE, **model) == found
    assert declared(v3._deepseek_moe_quant_resolution, A100, args, **DENSE, **model) == {}


def test_int4_groups_have_flashinfers_kernels() -> None:
    weights: dict[str, Any] = {"num_bits": 4, "group_size": 32, "strategy": "group", "type": "int"}
    method = {"quant_method": "compressed-tensors"}

    def found(weights: dict[str, Any]) -> dict[str, Any]:
        groups = {**method, "config_groups": {"group_0": {"weights": weights}}}
        return declared(v3._deepseek_moe_quant_resolution, B200, **DENSE, quantization_config=groups)

    chosen = {"quantization": "compressed-tensors", "moe_runner_backend": "flashinfer_trtllm"}
    assert found(weights) == chosen
    assert found({**weights, "num_bits": 8}) == {"quantization": "compressed-tensors"}


def test_the_draft_layer_of_an_fp4_checkpoint_on_rocm() -> None:
    step = v3._deepseek_spec_moe_resolution
    args = {"quantization": "modelopt_fp4", "speculative_algorithm": "EAGLE"}
    plain = {"speculative_moe_runner_backend": "triton", "speculative_moe_a2a_backend": "none"}
    deep = {"speculative_moe_runner_backend": "deep_gemm", "speculative_moe_a2a_backend": "deepep"}
    env = {"SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE": "1"}
    assert declared(step, MI300X, args, **DENSE) == plain
    assert declared(step, MI300X, {**args, "ep_size": 8}, env=env, **DENSE) == deep
    with pytest.raises(ValueError, match="set ep_size above 1"):
        declared(step, MI300X, args, env=env, **DENSE)
    assert declared(step, MI300X, {**args, **plain}, **DENSE) == declared(step, B200, args, **DENSE) == {}
    for other in ({"quantization": "fp8"}, {"speculative_algorithm": "NEXTN"}):
        assert declared(step, MI300X, {**args, **other}, **DENSE) == {}


def test_v4_has_its_backend_and_sizes() -> None:
    step = v4._deepseek_v4_overrides
    found = {"attention_backend": "dsv4", "page_size": 256, "max_running_requests": 256, "swa_full_tokens_ratio": 0.1}
    assert declared(step, H100, {"attention_backend": "fa3", "page_size": 64}, **V4) == found
    kept = {"max_running_requests": 4, "swa_full_tokens_ratio": 0.5}
    assert declared(step, H100, kept, **V4) == {"attention_backend": "dsv4", "page_size": 256}
    npu = {"prefill_attention_backend": "dsv4", "decode_attention_backend": "dsv4", "page_size": 128}
    assert declared(step, NPU, **V4) == {**found, **npu}
    routed = {"moe_runner_backend": "flashinfer_trtllm_routed"}
    assert declared(step, H100, **V4, nvfp4_moe=True) == {**found, **routed}
    assert declared(step, H100, {"moe_runner_backend": "triton"}, **V4, nvfp4_moe=True) == found
    assert declared(step, H100) == {}


def test_v4_keeps_its_kv_cache_in_two_types() -> None:
    step = v4._deepseek_v4_kv_cache_dtype
    assert declared(step, H100, **V4) == {"kv_cache_dtype": "fp8_e4m3"}
    assert declared(step, H100, {"kv_cache_dtype": "bfloat16"}, **V4) == {}
    assert declared(step, NPU, {"kv_cache_dtype": "fp8_e5m2"}, **V4) == {"kv_cache_dtype": "bfloat16"}
    with pytest.raises(AssertionError, match="DeepseekV4ForCausalLM keeps its KV cache"):
        declared(step, H100, {"kv_cache_dtype": "fp8_e5m2"}, **V4)


def test_v4_speculates_with_eagle() -> None:
    step = v4._deepseek_v4_speculation_validation
    eagle = {"speculative_algorithm": "EAGLE", "speculative_eagle_topk": 1}
    assert declared(step, H100, eagle, **V4) == declared(step, H100, **V4) == {}
    with pytest.raises(AssertionError, match="top-k of 1 alone"):
        declared(step, H100, {**eagle, "speculative_eagle_topk": 2}, **V4)
    with pytest.raises(AssertionError, match="with EAGLE alone"):
        declared(step, H100, {**eagle, "speculative_algorithm": "NEXTN"}, **V4)


def test_v4_splits_the_context_by_interleaving() -> None:
    step, args = v4._deepseek_v4_context_parallelism, {**CONTEXT, "cp_strategy": "interleave"}
    assert declared(step, H100, args, **V4) == {
        "enable_dp_attention": True,
        "moe_dense_tp_size": 1,
        "attn_cp_size": 8,
        "enable_dsa_prefill_context_parallel": True,
        "dsa_prefill_cp_mode": "round-robin-split",
    }
    assert declared(step, H100, **V4) == {}
    with pytest.raises(ValueError, match="not by 'zigzag'"):
        declared(step, H100, {**args, "cp_strategy": "zigzag"}, **V4)
    with pytest.raises(ZeroDivisionError):
        declared(step, H100, {**args, "dp_size": 0, "tp_size": 16}, **V4)
    with pytest.raises(AssertionError, match="leaves no rank"):
        declared(step, H100, {**args, "dp_size": 2, "tp_size": 16}, **V4)
    with pytest.raises(AssertionError, match="one machine"):
        declared(step, H100, {**args, "tp_size": 16}, **V4)


def test_v4_on_machines_that_lack_kernels() -> None:
    step = v4._deepseek_v4_sm120_moe
    sm120 = declared(step, SM120, **V4)
    assert sm120.pop("moe_runner_backend") == "marlin"
    assert sm120 == declared(step, SM120, {"moe_runner_backend": "triton"}, **V4)
    assert sorted(set(map(type, sm120.values())), key=str) == [bool]
    assert len(sm120) == 5
    rocm = declared(step, MI300X, **V4)
    assert sum(rocm.values()) == 4 and len(rocm) == 11
    assert declared(step, B200, **V4) == {}
