"""Platforms, quantization, fused all-reduce, sampling, determinism, parallelism, overlap, diffusion: pass by pass."""

from __future__ import annotations

from typing import Any

import pytest
from callables import A100, ARM, B200, CPU, H100, HPU, MI300X, MPS, MUSA, NPU, SM120, XPU, declared

from declarative.passes import (
    allreduce_fusion,
    deterministic,
    dllm,
    overlap,
    parallelism,
    platforms,
    quantization,
    sampling,
)
from harness.world.hardware import Hardware

OFF = {"cuda_graph_config.decode.backend": "disabled", "cuda_graph_config.prefill.backend": "disabled"}
FUSION = "flashinfer_allreduce_fusion_backend"
DETERMINISTIC = {"enable_deterministic_inference": True}
DIFFUSION = {"dllm_algorithm": "LowConfidence"}


def test_gaudi() -> None:
    forced = {"attention_backend": "torch_native", "sampling_backend": "pytorch"}
    assert declared(platforms._hpu_defaults, HPU, {"attention_backend": "triton"}) == forced
    assert declared(platforms._hpu_defaults, H100) == {}
    # The argument decides and not the machine.
    assert declared(platforms._hpu_defaults, HPU, {"device": "cuda"}) == {}


def test_cpus() -> None:
    step, sampled = platforms._cpu_defaults, {"sampling_backend": "pytorch"}
    assert declared(step, CPU) == {"attention_backend": "intel_amx", **sampled}
    assert declared(step, ARM) == {"attention_backend": "torch_native", **sampled}
    assert declared(step, CPU, {"attention_backend": "triton", "sampling_backend": "flashinfer"}) == sampled
    assert declared(step, H100) == {}


def test_npus() -> None:
    step = platforms._npu_defaults
    forced: dict[str, Any] = dict.fromkeys(
        ("attention_backend", "prefill_attention_backend", "decode_attention_backend"), "ascend"
    ) | {"disable_custom_all_reduce": True, "cuda_graph_config.prefill.tc_compiler": "eager"}
    bs = "cuda_graph_config.decode.max_bs"
    assert declared(step, NPU, {"tp_size": 4}) == {**forced, "page_size": 128, bs: 256}
    assert declared(step, NPU, {"page_size": 64}) == {**forced, bs: 64}
    small = Hardware(platform="npu", memory_mib=32768)
    chunkless = {"page_size": 64, "chunked_prefill_size": None}
    assert declared(step, small, chunkless) == {**forced, bs: 16, "chunked_prefill_size": 4096}
    large = Hardware(platform="npu", memory_mib=65537)
    assert declared(step, large, chunkless) == forced
    kept = {"page_size": 64, "cuda_graph_config": {"decode": {"max_bs": 3}, "prefill": {"tc_compiler": None}}}
    assert declared(step, NPU, kept) == {
        name: value for name, value in forced.items() if not name.endswith("tc_compiler")
    }
    cached = {"page_size": 64, "enable_hierarchical_cache": True}
    for attention, layout in (("mla", "page_first_kv_split"), ("mha", "page_first_direct")):
        found = declared(step, large, cached, attention=attention)
        assert (found["hicache_io_backend"], found["hicache_mem_layout"]) == ("kernel_ascend", layout)


def test_apple_and_intel_devices() -> None:
    assert declared(platforms._mps_overlap_disable, MPS) == {"disable_overlap_schedule": True}
    assert declared(platforms._mps_overlap_disable, MPS, env={"SGLANG_USE_MLX": "1"}) == {}
    assert declared(platforms._mps_overlap_disable, H100) == {}
    off = {"cuda_graph_config.prefill.backend": "disabled"}
    assert declared(platforms._xpu_prefill_graph_disable, XPU) == off
    assert declared(platforms._xpu_prefill_graph_disable, H100) == {}


def test_the_opt_out_is_remembered() -> None:
    step = quantization._quantization_opt_out
    assert declared(step, H100, {"quantization": "unquant"}) == {
        "quantization": None,
        "_quantization_explicitly_unset": True,
    }
    assert declared(step, H100, {"quantization": "fp8"}) == declared(step, H100) == {}


def test_a_gguf_file_is_loaded_as_one() -> None:
    step, gguf = quantization._gguf_quantization, {"quantization": "gguf", "load_format": "gguf"}
    assert declared(step, H100, {"quantization": "fp8"}, gguf=True) == gguf
    assert declared(step, H100, {"load_format": "gguf"}, gguf=True) == gguf
    assert declared(step, H100, {"load_format": "dummy"}, gguf=True) == {}
    assert declared(step, H100) == {}


def test_the_earlier_flag_of_the_fusion() -> None:
    step, on = allreduce_fusion._flashinfer_allreduce_fusion_alias, {"enable_flashinfer_allreduce_fusion": True}
    assert declared(step, H100, on) == {FUSION: "auto"}
    assert declared(step, H100, {**on, FUSION: "trtllm"}) == {}
    assert declared(step, H100) == {}


def test_determinism_opts_out_of_the_fusion_by_the_users_flag_alone() -> None:
    step = allreduce_fusion._deterministic_fusion_opt_out
    assert declared(step, H100, DETERMINISTIC) == {"enforce_disable_flashinfer_allreduce_fusion": True}
    assert declared(step, H100, {"rl_on_policy_target": "fsdp"}) == {}
    assert declared(step, H100) == {}


@pytest.mark.parametrize(
    ("hardware", "args", "fuses"),
    [
        (H100, {}, True),
        (B200, {}, True),
        (B200, {"nnodes": 2}, True),
        (H100, {"nnodes": 2}, False),
        (A100, {}, False),
        (MI300X, {}, False),
        (H100, {"tp_size": 1}, False),
        (H100, {"enable_dp_attention": True}, False),
        (H100, {"moe_a2a_backend": "deepep"}, False),
        (H100, {FUSION: "trtllm"}, False),
    ],
)
def test_who_fuses_unasked(hardware: Hardware, args: dict[str, Any], fuses: bool) -> None:
    step = allreduce_fusion._flashinfer_allreduce_fusion_auto_enable
    found = declared(step, hardware, {"tp_size": 2, **args}, architectures=["GptOssForCausalLM"])
    assert found == ({FUSION: "auto"} if fuses else {})
    assert declared(step, hardware, {"tp_size": 2, **args}) == {}


def test_who_never_fuses() -> None:
    step, never = allreduce_fusion._enforce_disable_allreduce_fusion, "enforce_disable_flashinfer_allreduce_fusion"
    assert declared(step, H100, {never: True, FUSION: "trtllm"}) == {FUSION: None}
    assert declared(step, H100, {FUSION: "trtllm"}) == {}
    # Where weights come from a running server there is no model to adjust to.
    assert declared(step, H100, {never: True, "model_path": "instance://there"}) == {}


def test_sampling() -> None:
    step = sampling._sampling_backend_default
    assert declared(step, H100) == {"sampling_backend": "flashinfer"}
    assert declared(step, A100) == {"sampling_backend": "pytorch"}
    assert declared(step, H100, {"sampling_backend": "pytorch"}) == {}


def test_to_be_on_policy_is_to_be_deterministic() -> None:
    step = deterministic._on_policy_determinism
    assert declared(step, H100, {"rl_on_policy_target": "fsdp"}) == {
        "enable_deterministic_inference": True,
        "SGLANG_VLM_CACHE_SIZE_MB": 0,
        "SGLANG_ENABLE_DETERMINISTIC_INFERENCE": True,
    }
    assert declared(step, H100, DETERMINISTIC) == declared(step, H100) == {}


def test_determinism_ends_fusions_and_samples_with_pytorch() -> None:
    off, sampled = {"enable_aiter_allreduce_fusion": False}, deterministic._deterministic_sampling_backend
    step = deterministic._deterministic_allreduce_fusion_disable
    assert declared(step, H100, DETERMINISTIC) == off
    assert declared(step, H100, {**DETERMINISTIC, FUSION: "auto"}) == {**off, FUSION: None}
    assert declared(step, H100, {FUSION: "auto"}) == {}
    assert declared(sampled, H100, {**DETERMINISTIC, "sampling_backend": "flashinfer"}) == {
        "sampling_backend": "pytorch"
    }
    assert declared(sampled, NPU, {**DETERMINISTIC, "sampling_backend": "ascend"}) == {}
    assert declared(sampled, H100) == {}


@pytest.mark.parametrize(
    ("hardware", "architecture", "backend"),
    [
        (H100, "LlamaForCausalLM", "fa3"),
        (H100, "DeepseekV3ForCausalLM", "fa3"),
        (B200, "LlamaForCausalLM", "flashinfer"),
        (SM120, "LlamaForCausalLM", "flashinfer"),
        (B200, "DeepseekV3ForCausalLM", "triton"),
        (SM120, "DeepseekV2ForCausalLM", "triton"),
        (MI300X, "LlamaForCausalLM", "fa3"),
    ],
)
def test_the_deterministic_attention_backend(hardware: Hardware, architecture: str, backend: str) -> None:
    step = deterministic._deterministic_attention_backend
    found = declared(step, hardware, DETERMINISTIC, architectures=[architecture])
    assert found == {"attention_backend": backend}
    assert declared(step, hardware, architectures=[architecture]) == {}


def test_a_chosen_deterministic_backend_is_kept_and_another_refused() -> None:
    step = deterministic._deterministic_attention_backend
    chosen = {**DETERMINISTIC, "attention_backend": "triton"}
    assert declared(step, H100, chosen, architectures=["DeepseekV3ForCausalLM"]) == {}
    with pytest.raises(ValueError, match="trtllm_mha is not deterministic, only"):
        declared(step, B200, {**DETERMINISTIC, "attention_backend": "trtllm_mha"})
    flashinfer = {**DETERMINISTIC, "attention_backend": "flashinfer"}
    assert declared(step, B200, flashinfer) == {}
    with pytest.raises(ValueError, match="flashinfer is not deterministic for DeepSeek"):
        declared(step, B200, flashinfer, architectures=["DeepseekV3ForCausalLM"])
    elsewhere = {**flashinfer, "model_path": "instance://there"}
    assert declared(step, B200, elsewhere, architectures=["DeepseekV3ForCausalLM"]) == {}


def test_prefixes_and_collectives_under_determinism() -> None:
    step, tree = deterministic._deterministic_radix_cache_disable, deterministic._deterministic_collectives
    assert declared(step, B200, {**DETERMINISTIC, "attention_backend": "flashinfer"}) == {"disable_radix_cache": True}
    assert declared(step, H100, {**DETERMINISTIC, "attention_backend": "fa3"}) == {}
    both = {"NCCL_ALGO": "allreduce:tree", "disable_custom_all_reduce": True}
    assert declared(tree, H100, {**DETERMINISTIC, "tp_size": 2}) == both
    assert declared(tree, H100, DETERMINISTIC) == {}
    assert declared(tree, MI300X, {**DETERMINISTIC, "tp_size": 2}) == {}


def test_parallelism() -> None:
    defaults, scaling = parallelism._data_parallelism_defaults, parallelism._dp_attention_scaling
    for asked in ({"enable_dp_attention": True}, {"enable_dp_lm_head": True}):
        assert declared(defaults, H100, asked) == {"enable_dp_attention": False, "enable_dp_lm_head": False}
    assert declared(defaults, H100) == {}
    assert declared(defaults, H100, {"dp_size": 2, "enable_dp_attention": True}) == {}
    split = {"enable_dp_attention": True, "dp_size": 2, "tp_size": 4}
    assert declared(scaling, H100, split) == {"schedule_conservativeness": 0.3, "chunked_prefill_size": 4096}
    assert declared(scaling, H100, {"dp_size": 2}) == {}
    with pytest.raises(AssertionError, match="does not divide 3 ranks"):
        declared(scaling, H100, {**split, "tp_size": 3})
    with pytest.raises(TypeError, match="for //: 'NoneType'"):
        declared(scaling, H100, {**split, "chunked_prefill_size": None})
    head = parallelism._dp_lm_head_validation
    assert declared(head, H100, {"enable_dp_lm_head": True, "enable_dp_attention": True, "dp_size": 2}) == {}
    with pytest.raises(AssertionError, match="enable_dp_lm_head needs"):
        declared(head, H100, {"enable_dp_lm_head": True, "dp_size": 2})
    stages = parallelism._pipeline_parallel_overlap_disable
    assert declared(stages, H100, {"pp_size": 2}) == {"disable_overlap_schedule": True}
    assert declared(stages, H100) == {}


def test_a_sparse_head_does_not_overlap() -> None:
    step, env = overlap._sparse_head_overlap_disable, {"SGLANG_EMBEDDINGS_SPARSE_HEAD": ""}
    assert declared(step, H100, env=env) == {"disable_overlap_schedule": True}
    assert declared(step, H100) == {}
    assert declared(step, H100, {"model_path": "instance://there"}, env=env) == {}


def test_diffusion_has_a_backend_a_platform() -> None:
    step = dllm._dllm_attention_backend
    assert declared(step, H100, {**DIFFUSION, "attention_backend": "fa3"}) == {"attention_backend": "flashinfer"}
    assert declared(step, H100, {**DIFFUSION, "attention_backend": "flashinfer"}) == {}
    uncaptured = {"cuda_graph_config": {"decode": {"backend": "disabled"}}, "attention_backend": "fa3"}
    assert declared(step, H100, {**DIFFUSION, **uncaptured}) == {}
    assert declared(step, MI300X, {**DIFFUSION, "attention_backend": "fa3"}) == {"attention_backend": "triton", **OFF}
    assert declared(step, MI300X, {**DIFFUSION, "attention_backend": "aiter"}) == OFF
    assert declared(step, NPU, {**DIFFUSION, "attention_backend": "fa3"}) == {"attention_backend": "ascend"}
    assert declared(step, NPU, {**DIFFUSION, "attention_backend": "ascend"}) == {}
    assert declared(step, H100, {"attention_backend": "fa3"}) == {}


def test_diffusion_pages_end_where_blocks_end() -> None:
    step, off = dllm._dllm_page_size, {"enable_hierarchical_cache": False, "enable_lmcache": False}
    assert declared(step, H100, {**DIFFUSION, "page_size": 1}, dllm_block_size=4) == {**off, "page_size": 4}
    assert declared(step, H100, {**DIFFUSION, "page_size": 64}, dllm_block_size=32) == off
    assert declared(step, H100, {**DIFFUSION, "page_size": 1, "disable_radix_cache": True}) == {}
    assert declared(step, H100, {"page_size": 1}) == {}


def test_what_diffusion_does_not_have() -> None:
    assert declared(dllm._dllm_overlap_disable, H100, DIFFUSION) == {"disable_overlap_schedule": True}
    assert declared(dllm._dllm_overlap_disable, H100, {**DIFFUSION, "disable_overlap_schedule": True}) == {}
    step = dllm._dllm_feature_disable
    assert declared(step, MUSA, {**DIFFUSION, "pp_size": 2}) == {}
    given = {"enable_lora": True, "disaggregation_mode": "decode", "enable_mixed_chunk": True, "pp_size": 0}
    assert declared(step, MUSA, {**DIFFUSION, **given}) == {
        "enable_lora": False,
        "disaggregation_mode": "null",
        "enable_mixed_chunk": False,
        "pp_size": 1,
    }
