"""State layers' cache, and DeepSeek's sparse attention: pass by pass."""

from __future__ import annotations

from typing import Any

import pytest
from callables import A100, B200, CPU, H100, MI300X, NPU, XPU, declared

from declarative.families import dsa
from declarative.passes import mamba
from harness.world.hardware import Hardware

FALCON, JET, GRANITE = "FalconH1ForCausalLM", "JetNemotronForCausalLM", "GraniteMoeHybridForCausalLM"
SPARSE: dict[str, Any] = {"architectures": ["DeepseekV32ForCausalLM"], "attention": "mla", "index_topk": 2048}


def states(
    args: dict[str, Any] | None = None, hardware: Hardware = H100, architecture: str = FALCON, **model: Any
) -> dict[str, Any]:
    return declared(mamba._mamba_radix_cache_resolution, hardware, args, architectures=[architecture], **model)


def test_the_strategy_follows_overlap_pages_and_the_model() -> None:
    extra = {"uses_mamba_radix_cache": True, "mamba_radix_cache_strategy": "extra_buffer"}
    plain = {
        "uses_mamba_radix_cache": True,
        "mamba_radix_cache_strategy": "no_buffer",
        "disable_overlap_schedule": True,
    }
    assert states() == extra
    assert states({"disable_overlap_schedule": True}) == plain
    assert states({"disable_overlap_schedule": True, "page_size": 64}) == extra
    assert states(architecture=JET) == plain
    assert states({"linear_attn_backend": "cutedsl"}) == plain


def test_no_prefix_cache_no_strategy() -> None:
    assert states({"disable_radix_cache": True}) == {}
    assert states(architecture="LlamaForCausalLM") == {}
    assert states(architecture=GRANITE, layer_types=["attention"]) == {}
    assert states(architecture=GRANITE, layer_types=["attention", "mamba"])["uses_mamba_radix_cache"] is True


def test_a_chosen_strategy_is_kept() -> None:
    chosen = {"mamba_radix_cache_strategy": "no_buffer", "disable_overlap_schedule": True}
    assert states(chosen) == {"uses_mamba_radix_cache": True}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"mamba_radix_cache_strategy": "no_buffer"}, "set disable_overlap_schedule"),
        ({"page_size": 64}, "page size 1, not 64"),
        ({"attention_backend": "trtllm_mha"}, "does not go with trtllm_mha"),
        ({"mamba_radix_cache_strategy": "extra_buffer"}, "has no extra_buffer, only no_buffer"),
    ],
)
def test_what_single_tokens_refuse(args: dict[str, Any], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        states(args, architecture=JET)


@pytest.mark.parametrize(
    ("args", "hardware", "model", "words"),
    [
        ({}, MI300X, {}, "CUDA, MUSA and NPU alone"),
        ({"mamba_radix_cache_strategy": "extra_buffer_lazy"}, H100, {}, "extra_buffer_lazy cannot speculate"),
        ({"mamba_track_interval": 2}, H100, {}, "raise mamba_track_interval"),
        ({"page_size": 48}, H100, {}, "at the end of a page"),
        ({"page_size": 64}, H100, {"mamba_chunk_size": 96}, "must divide one another"),
    ],
)
def test_what_extra_buffers_refuse(
    args: dict[str, Any], hardware: Hardware, model: dict[str, Any], words: str
) -> None:
    with pytest.raises(AssertionError, match=words):
        states({"speculative_num_draft_tokens": 4, **args}, hardware, **model)


def test_pages_and_chunks_that_divide() -> None:
    assert states({"page_size": 64}, mamba_chunk_size=128)["mamba_radix_cache_strategy"] == "extra_buffer"
    with pytest.raises(ZeroDivisionError):
        states({"page_size": 64}, mamba_chunk_size=0)


@pytest.mark.parametrize(
    ("hardware", "given", "dtype"),
    [
        (B200, "auto", "fp8_e4m3"),
        (H100, "auto", "bfloat16"),
        (MI300X, "auto", "bfloat16"),
        (H100, "bf16", "bfloat16"),
        (H100, "fp8_e4m3", None),
        (B200, "bfloat16", None),
        (NPU, "auto", None),
        (XPU, "auto", None),
    ],
)
def test_the_type_of_the_sparse_kv_cache(hardware: Hardware, given: str, dtype: str | None) -> None:
    found = declared(dsa._dsa_kv_cache_dtype_default, hardware, {"kv_cache_dtype": given}, **SPARSE)
    assert found == ({} if dtype is None else {"kv_cache_dtype": dtype})


def test_another_type_of_the_sparse_kv_cache_is_refused() -> None:
    with pytest.raises(AssertionError, match="not as fp8_e5m2"):
        declared(dsa._dsa_kv_cache_dtype_default, H100, {"kv_cache_dtype": "fp8_e5m2"}, **SPARSE)
    with pytest.raises(TypeError, match="'>=' not supported"):
        declared(dsa._dsa_kv_cache_dtype_default, CPU, **SPARSE)


def test_dense_models_are_left_alone() -> None:
    for model in ({"architectures": ["DeepseekV32ForCausalLM"]}, {"index_topk": 2048}):
        assert declared(dsa._dsa_kv_cache_dtype_default, H100, **model) == {}
        assert declared(dsa._dsa_split_backend_resolution, H100, **model) == {}


@pytest.mark.parametrize(
    ("hardware", "args", "prefill", "decode"),
    [
        (B200, {"kv_cache_dtype": "fp8_e4m3"}, "trtllm", "trtllm"),
        (H100, {"kv_cache_dtype": "fp8_e4m3"}, "flashmla_kv", "flashmla_kv"),
        (B200, {"kv_cache_dtype": "bfloat16"}, "flashmla_sparse", "trtllm"),
        (A100, {"kv_cache_dtype": "bfloat16"}, "flashmla_sparse", "fa3"),
        (MI300X, {"kv_cache_dtype": "fp8_e4m3"}, "tilelang", "tilelang"),
        (MI300X, {"enable_hisparse": True}, "tilelang", "tilelang"),
        (H100, {"enable_hisparse": True, "kv_cache_dtype": "fp8_e4m3"}, "flashmla_kv", "flashmla_kv"),
        (B200, {"enable_hisparse": True}, "flashmla_sparse", "flashmla_sparse"),
    ],
)
def test_the_split_backends(hardware: Hardware, args: dict[str, Any], prefill: str, decode: str) -> None:
    step = dsa._dsa_split_backend_resolution
    assert declared(step, hardware, args, **SPARSE) == {"dsa_prefill_backend": prefill, "dsa_decode_backend": decode}
    chosen = {"dsa_prefill_backend": "aiter", "dsa_decode_backend": "fa3"}
    assert declared(step, hardware, {**args, **chosen}, **SPARSE) == {}


def test_one_chosen_phase_is_kept_and_the_other_filled() -> None:
    step, args = dsa._dsa_split_backend_resolution, {"kv_cache_dtype": "bfloat16"}
    assert declared(step, H100, {**args, "dsa_prefill_backend": "fa3"}, **SPARSE) == {"dsa_decode_backend": "fa3"}
    # ROCm's own kernels are for those who chose none.
    assert declared(step, MI300X, {**args, "dsa_decode_backend": "aiter"}, **SPARSE) == {
        "dsa_prefill_backend": "flashmla_sparse"
    }
    assert declared(step, NPU, args, **SPARSE) == {}
