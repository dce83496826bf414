"""Attention kernels and what stands around them, pass by pass."""

from __future__ import annotations

from typing import Any

import pytest
from callables import A100, AMX, B200, CPU, H100, MI300X, MPS, MUSA, NPU, SM120, XPU, declared

from declarative.passes import attention_backend as passes
from declarative.passes.attention_backend import WHISPER
from harness.world.hardware import Hardware

OFF = {"cuda_graph_config.decode.backend": "disabled", "cuda_graph_config.prefill.backend": "disabled"}


@pytest.mark.parametrize(
    ("hardware", "model", "args", "backend"),
    [
        (H100, {}, {}, "fa3"),
        (H100, {}, {"speculative_eagle_topk": 1}, "fa3"),
        (H100, {}, {"speculative_eagle_topk": 1, "page_size": 64}, "flashinfer"),
        (H100, {}, {"speculative_eagle_topk": 2}, "flashinfer"),
        (B200, {}, {}, "trtllm_mha"),
        (B200, {}, {"speculative_algorithm": "EAGLE"}, "flashinfer"),
        (B200, {}, {"speculative_algorithm": "EAGLE", "speculative_eagle_topk": 1}, "trtllm_mha"),
        (A100, {}, {}, "triton"),
        (SM120, {}, {}, "flashinfer"),
        (SM120, {"has_attention_sinks": True}, {}, "triton"),
        (MI300X, {}, {}, "aiter"),
        (MPS, {}, {}, "torch_native"),
        (MUSA, {}, {}, "triton"),
        (H100, {"attention": "mla"}, {}, "fa3"),
        (B200, {"attention": "mla"}, {}, "flashinfer"),
        (A100, {"attention": "mla"}, {}, "triton"),
        (MPS, {"attention": "mla"}, {}, "torch_native"),
        (MI300X, {"attention": "mla", "num_key_value_heads": 128}, {"tp_size": 8}, "aiter"),
        (MI300X, {"attention": "mla", "num_key_value_heads": 128}, {"tp_size": 2}, "triton"),
        (H100, {"architectures": ["Other", WHISPER]}, {}, "flashinfer"),
    ],
)
def test_the_default(hardware: Hardware, model: dict[str, Any], args: dict[str, Any], backend: str) -> None:
    assert declared(passes._attention_backend_default, hardware, args, **model) == {"attention_backend": backend}


def test_a_chosen_backend_is_kept() -> None:
    assert declared(passes._attention_backend_default, H100, {"attention_backend": "triton"}) == {}
    one_phase = {"attention_backend": "triton", "prefill_attention_backend": "fa3"}
    assert declared(passes._attention_backend_default, H100, one_phase) == {}


def test_two_phases_with_the_same_kernels_are_one_backend() -> None:
    both = {"prefill_attention_backend": "fa4", "decode_attention_backend": "fa4"}
    assert declared(passes._attention_backend_default, A100, both) == {"attention_backend": "fa4"}
    assert declared(passes._attention_backend_default, A100, {**both, "attention_backend": "fa4"}) == {}


def test_uncapturable_kernels_turn_graphs_off() -> None:
    step = passes._graph_disable_for_attention_backend
    assert declared(step, H100, {"attention_backend": "fa3"}) == {}
    assert declared(step, CPU, {"attention_backend": "torch_native"}) == OFF
    assert declared(step, H100, {"attention_backend": "flex_attention"}) == OFF
    with pytest.raises(AssertionError, match="flex_attention cannot speculate"):
        declared(step, H100, {"attention_backend": "flex_attention", "speculative_algorithm": "EAGLE"})


def test_whisper_caches_no_prefixes() -> None:
    step, off = passes._whisper_radix_cache_disable, {"disable_radix_cache": True}
    assert declared(step, H100, architectures=[WHISPER], is_encoder_decoder=True) == off
    assert declared(step, H100, off, architectures=[WHISPER], is_encoder_decoder=True) == {}
    assert declared(step, H100, architectures=[WHISPER]) == {}
    assert declared(step, H100, is_encoder_decoder=True) == {}


@pytest.mark.parametrize("field", ["attention_backend", "decode_attention_backend"])
def test_cutedsl_mla_gets_kernels_to_prefill_with(field: str) -> None:
    step = passes._cutedsl_prefill_backend_fill
    assert declared(step, B200, {field: "cutedsl_mla"}) == {"prefill_attention_backend": "trtllm_mla"}
    assert declared(step, B200, {field: "cutedsl_mla", "prefill_attention_backend": "fa4"}) == {}
    assert declared(step, B200, {field: "trtllm_mla"}) == {}


def test_fa3_gives_way_to_fp8_e5m2() -> None:
    step = passes._attention_backend_fa3_fp8_fallback
    assert declared(step, H100, {"attention_backend": "fa3", "kv_cache_dtype": "fp8_e5m2"}) == {
        "attention_backend": "triton"
    }
    assert declared(step, H100, {"attention_backend": "fa3", "kv_cache_dtype": "fp8_e4m3"}) == {}
    assert declared(step, H100, {"attention_backend": "fa4", "kv_cache_dtype": "fp8_e5m2"}) == {}


def test_aiter_takes_memory_for_long_contexts() -> None:
    step, aiter = passes._aiter_memory_fraction, {"attention_backend": "aiter"}
    assert declared(step, MI300X, aiter, context_len=8193) == {"mem_fraction_static": 0.85 * 0.85}
    assert declared(step, MI300X, aiter, context_len=8192) == {}
    assert declared(step, MI300X, {"attention_backend": "triton"}, context_len=8193) == {}
    with pytest.raises(TypeError, match=r"for \*=: 'NoneType'"):
        declared(step, MI300X, {**aiter, "mem_fraction_static": None}, context_len=8193)


def test_intel_kernels_fall_back() -> None:
    step = passes._attention_backend_platform_fallbacks
    assert declared(step, CPU, {"attention_backend": "intel_amx"}) == {"attention_backend": "torch_native"}
    assert declared(step, AMX, {"attention_backend": "intel_amx"}) == {}
    assert declared(step, H100, {"attention_backend": "intel_amx"}) == {}
    xpu = {"attention_backend": "intel_xpu"}
    assert declared(step, Hardware(platform="xpu"), xpu) == {"attention_backend": "triton"}
    assert declared(step, XPU, xpu) == {}
    assert declared(step, H100, xpu) == {}


def test_dual_chunks_have_one_backend() -> None:
    step, name = passes._attention_backend_dual_chunk, "dual_chunk_flash_attn"
    off = {"enable_mixed_chunk": False, "disable_radix_cache": True}
    assert declared(step, H100, dual_chunk_attention_config={}) == {"attention_backend": name, **off}
    assert declared(step, H100, {"attention_backend": name}) == off
    assert declared(step, H100, {"attention_backend": "fa3"}) == {}
    with pytest.raises(ValueError, match="needs dual_chunk_flash_attn and not fa3"):
        declared(step, H100, {"attention_backend": "fa3"}, dual_chunk_attention_config={})


def test_a_4_bit_kv_cache() -> None:
    step, four = passes._kv4_compatibility, {"kv_cache_dtype": "fp4_e2m1"}
    assert declared(step, NPU, {"kv_cache_dtype": "auto"}) == {}
    with pytest.raises(RuntimeError, match="CUDA alone"):
        declared(step, MI300X, four)
    fine = {**four, "attention_backend": "triton"}
    assert declared(step, B200, fine) == {}
    with pytest.raises(AssertionError, match="a 4-bit KV cache is read by"):
        declared(step, B200, fine, attention="mla")
    split = {**four, "prefill_attention_backend": "fa4", "decode_attention_backend": "trtllm_mla"}
    assert declared(step, B200, split, attention="mla") == {}
    with pytest.raises(AssertionError, match="filled by fa4"):
        declared(step, B200, split)
