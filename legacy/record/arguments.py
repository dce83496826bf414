"""The record's fields, which the handlers read and assign.

The fields are those of the table `harness.world.records`, which also has their choices, flags and help. Name, type
and default are written here as well, because the codemods work on this package as on a tree of sglang: they read and
tag fields in the source of the record. A test checks that both agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated as A

from harness.world.cuda_graph import CudaGraphConfig
from legacy.record.arg import Arg


@dataclass
class Arguments:
    """The arguments of a server, by section."""

    # -- model
    model_path: A[str, Arg()]
    load_format: A[str, Arg()] = "auto"
    trust_remote_code: A[bool, Arg()] = False
    context_length: A[int | None, Arg()] = None
    is_embedding: A[bool, Arg()] = False
    enable_multimodal: A[bool | None, Arg()] = None
    revision: A[str | None, Arg()] = None
    model_impl: A[str, Arg()] = "auto"
    encoder_only: A[bool, Arg()] = False
    language_only: A[bool, Arg()] = False

    # -- number formats
    dtype: A[str, Arg()] = "auto"
    quantization: A[str | None, Arg()] = None
    kv_cache_dtype: A[str, Arg()] = "auto"
    quantize_and_serve: A[bool, Arg()] = False
    enable_tf32_matmul: A[bool, Arg()] = False

    # -- memory and scheduling
    mem_fraction_static: A[float | None, Arg()] = None
    max_running_requests: A[int | None, Arg()] = None
    chunked_prefill_size: A[int | None, Arg()] = None
    max_prefill_tokens: A[int, Arg()] = 16384
    schedule_conservativeness: A[float, Arg()] = 1.0
    page_size: A[int | None, Arg()] = None
    swa_full_tokens_ratio: A[float, Arg()] = 0.8
    disable_hybrid_swa_memory: A[bool, Arg()] = False
    disable_radix_cache: A[bool, Arg()] = False
    disable_overlap_schedule: A[bool, Arg()] = False
    enable_mixed_chunk: A[bool, Arg()] = False
    sampling_defaults: A[str, Arg()] = "model"

    # -- device and parallelism
    device: A[str | None, Arg()] = None
    nnodes: A[int, Arg()] = 1
    tp_size: A[int, Arg()] = 1
    pp_size: A[int, Arg()] = 1
    dp_size: A[int, Arg()] = 1
    attn_cp_size: A[int, Arg()] = 1
    enable_prefill_cp: A[bool, Arg()] = False
    cp_strategy: A[str | None, Arg()] = None
    enable_dsa_prefill_context_parallel: A[bool, Arg()] = False
    dsa_prefill_cp_mode: A[str, Arg()] = "round-robin-split"
    enable_dp_attention: A[bool, Arg()] = False
    enable_dp_lm_head: A[bool, Arg()] = False
    enable_lora: A[bool | None, Arg()] = None

    # -- kernels
    attention_backend: A[str | None, Arg()] = None
    decode_attention_backend: A[str | None, Arg()] = None
    prefill_attention_backend: A[str | None, Arg()] = None
    sampling_backend: A[str | None, Arg()] = None
    dsa_prefill_backend: A[str | None, Arg()] = None
    dsa_decode_backend: A[str | None, Arg()] = None
    cuda_graph_config: A[CudaGraphConfig, Arg()] = field(default_factory=CudaGraphConfig)

    # -- speculative decoding
    speculative_algorithm: A[str | None, Arg()] = None
    speculative_draft_model_path: A[str | None, Arg()] = None
    speculative_num_steps: A[int | None, Arg()] = None
    speculative_eagle_topk: A[int | None, Arg()] = None
    speculative_num_draft_tokens: A[int | None, Arg()] = None
    speculative_moe_runner_backend: A[str | None, Arg()] = None
    speculative_moe_a2a_backend: A[str | None, Arg()] = None
    speculative_draft_model_quantization: A[str | None, Arg()] = None
    enable_multi_layer_eagle: A[bool, Arg()] = False

    # -- mixture of experts
    ep_size: A[int, Arg()] = 1
    moe_a2a_backend: A[str, Arg()] = "none"
    moe_runner_backend: A[str, Arg()] = "auto"
    deepep_mode: A[str, Arg()] = "auto"
    moe_dense_tp_size: A[int | None, Arg()] = None
    enable_deepep_waterfill: A[bool, Arg()] = False
    disable_shared_experts_fusion: A[bool, Arg()] = False
    enforce_shared_experts_fusion: A[bool, Arg()] = False

    # -- hybrid models
    mamba_radix_cache_strategy: A[str, Arg()] = "auto"
    mamba_track_interval: A[int, Arg()] = 256
    linear_attn_backend: A[str, Arg()] = "triton"

    # -- caches beyond the device
    enable_hierarchical_cache: A[bool, Arg()] = False
    hicache_io_backend: A[str, Arg()] = "kernel"
    hicache_mem_layout: A[str, Arg()] = "page_first"
    enable_hisparse: A[bool, Arg()] = False
    enable_lmcache: A[bool, Arg()] = False

    # -- collectives, determinism, the rest
    disable_custom_all_reduce: A[bool, Arg()] = False
    enable_flashinfer_allreduce_fusion: A[bool, Arg()] = False
    enforce_disable_flashinfer_allreduce_fusion: A[bool, Arg()] = False
    flashinfer_allreduce_fusion_backend: A[str | None, Arg()] = None
    enable_aiter_allreduce_fusion: A[bool, Arg()] = False
    enable_two_batch_overlap: A[bool, Arg()] = False
    enable_deterministic_inference: A[bool, Arg()] = False
    rl_on_policy_target: A[str | None, Arg()] = None
    dllm_algorithm: A[str | None, Arg()] = None
    disaggregation_mode: A[str, Arg()] = "null"
    disaggregation_transfer_backend: A[str, Arg()] = "mooncake"

    # -- set by handlers only, so the constructor does not take them
    uses_mamba_radix_cache: bool = field(default=False, init=False)
    _quantization_explicitly_unset: bool = field(default=False, init=False)
