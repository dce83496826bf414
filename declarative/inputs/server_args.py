"""The record's fields: what a user sets, pristine until a resolution writes its result onto them.

Names, types, defaults and choices are facts of ``ServerArgs`` in 0.5.14; the fields are those that the resolution
slice reads or writes, those that a generated case sets, and those of the real launches. What is decided before the
slice, outside it, is in `harness.world.slice`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated as A

from declarative.engine.arg import Arg
from harness.world import choices
from harness.world.cuda_graph import CudaGraphConfig


@dataclass
class ServerArgs:
    """The arguments of a server, by section; ``resolvable`` marks the whitelist."""

    # -- model
    model_path: A[str, Arg("Where the weights are: a folder, or a repository's name.", aliases=("--model",))]
    load_format: A[str, Arg("The format of the weights.", choices.LOAD_FORMAT_CHOICES)] = "auto"
    trust_remote_code: A[bool, Arg("Run model code that comes with the checkpoint.")] = False
    context_length: A[int | None, Arg("The longest context, in tokens; the model's own if not given.")] = None
    is_embedding: A[bool, Arg("Serve the model for embeddings.")] = False
    enable_multimodal: A[bool | None, Arg("Serve what a multimodal model takes besides text.")] = None
    revision: A[str | None, Arg("The repository's branch, tag or commit.")] = None
    model_impl: A[str, Arg("Whose implementation of the model runs.")] = "auto"
    encoder_only: A[bool, Arg("Serve the multimodal encoder alone.")] = False
    language_only: A[bool, Arg("Serve the language model alone.")] = False

    # -- number formats
    dtype: A[str, Arg("The type of weights and activations.", choices.DTYPE_CHOICES, resolvable=True)] = "auto"
    quantization: A[str | None, Arg("The quantization method.", choices.QUANTIZATION_CHOICES, resolvable=True)] = None
    kv_cache_dtype: A[str, Arg("The type of the KV cache.", choices.KV_CACHE_DTYPE_CHOICES, resolvable=True)] = "auto"
    quantize_and_serve: A[bool, Arg("Quantize with ModelOpt and serve at once.")] = False
    enable_tf32_matmul: A[bool, Arg("Let float32 matrix products use TF32.", resolvable=True)] = False

    # -- memory and scheduling
    mem_fraction_static: A[float | None, Arg("The part of the memory for weights and KV cache.")] = None
    max_running_requests: A[int | None, Arg("How many requests run at most.")] = None
    chunked_prefill_size: A[int | None, Arg("The tokens of a prefill chunk; -1 for no chunks.")] = None
    max_prefill_tokens: A[int, Arg("The tokens of a prefill batch.")] = 16384
    schedule_conservativeness: A[float, Arg("How cautiously requests are admitted.")] = 1.0
    page_size: A[int | None, Arg("The tokens of a page of the KV cache.", resolvable=True)] = None
    swa_full_tokens_ratio: A[
        float, Arg("Cached tokens of sliding-window layers per token of full layers.", resolvable=True)
    ] = 0.8
    disable_hybrid_swa_memory: A[
        bool, Arg("One memory pool for sliding-window and full layers.", resolvable=True)
    ] = False
    disable_radix_cache: A[bool, Arg("No prefix cache.")] = False
    disable_overlap_schedule: A[bool, Arg("Scheduler and model in turn, not side by side.", resolvable=True)] = False
    enable_mixed_chunk: A[bool, Arg("Prefill chunks and decoding in one batch.")] = False
    sampling_defaults: A[str, Arg("Whose sampling defaults hold.", choices.SAMPLING_DEFAULTS_CHOICES)] = "model"

    # -- device and parallelism
    device: A[str | None, Arg("The torch device type; detected if not given.")] = None
    nnodes: A[int, Arg("The number of nodes.")] = 1
    tp_size: A[int, Arg("Tensor parallel ranks.", aliases=("--tensor-parallel-size",))] = 1
    pp_size: A[int, Arg("Pipeline parallel ranks.", aliases=("--pipeline-parallel-size",))] = 1
    dp_size: A[int, Arg("Data parallel ranks.", aliases=("--data-parallel-size",))] = 1
    attn_cp_size: A[
        int,
        Arg(
            "Context parallel ranks of the attention.",
            aliases=("--attention-context-parallel-size",),
            resolvable=True,
        ),
    ] = 1
    enable_prefill_cp: A[bool, Arg("Context parallelism while prefilling.")] = False
    cp_strategy: A[str | None, Arg("How the context is split.", choices.CP_STRATEGY_CHOICES)] = None
    enable_dsa_prefill_context_parallel: A[
        bool, Arg("The earlier name of enable_prefill_cp.", aliases=("--enable-nsa-prefill-context-parallel",))
    ] = False
    dsa_prefill_cp_mode: A[str, Arg("The earlier name of cp_strategy.", aliases=("--nsa-prefill-cp-mode",))] = (
        "round-robin-split"
    )
    enable_dp_attention: A[bool, Arg("Attention data parallel, the rest tensor parallel.", resolvable=True)] = False
    enable_dp_lm_head: A[
        bool, Arg("The output head's vocabulary split within attention groups.", resolvable=True)
    ] = False
    enable_lora: A[bool | None, Arg("Serve LoRA adapters.")] = None

    # -- kernels
    attention_backend: A[
        str | None, Arg("Attention kernels.", choices.ATTENTION_BACKEND_CHOICES, resolvable=True)
    ] = None
    decode_attention_backend: A[
        str | None, Arg("Attention kernels while decoding.", choices.ATTENTION_BACKEND_CHOICES, resolvable=True)
    ] = None
    prefill_attention_backend: A[
        str | None, Arg("Attention kernels while prefilling.", choices.ATTENTION_BACKEND_CHOICES, resolvable=True)
    ] = None
    sampling_backend: A[str | None, Arg("Sampling kernels.", choices.SAMPLING_BACKEND_CHOICES, resolvable=True)] = (
        None
    )
    dsa_prefill_backend: A[
        str | None,
        Arg(
            "Sparse attention kernels while prefilling.",
            choices.DSA_CHOICES,
            ("--nsa-prefill-backend",),
            resolvable=True,
        ),
    ] = None
    dsa_decode_backend: A[
        str | None,
        Arg(
            "Sparse attention kernels while decoding.",
            choices.DSA_CHOICES,
            ("--nsa-decode-backend",),
            resolvable=True,
        ),
    ] = None
    cuda_graph_config: A[CudaGraphConfig, Arg("CUDA graph settings of both phases, as JSON.")] = field(
        default_factory=CudaGraphConfig
    )

    # -- speculative decoding
    speculative_algorithm: A[str | None, Arg("The algorithm.")] = None
    speculative_draft_model_path: A[
        str | None, Arg("Where the draft model's weights are.", aliases=("--speculative-draft-model",))
    ] = None
    speculative_num_steps: A[int | None, Arg("Steps of the draft model.")] = None
    speculative_eagle_topk: A[int | None, Arg("Tokens drafted per step.")] = None
    speculative_num_draft_tokens: A[int | None, Arg("Tokens drafted in all.")] = None
    speculative_moe_runner_backend: A[
        str | None, Arg("Expert kernels of the draft model.", choices.MOE_RUNNER_BACKEND_CHOICES, resolvable=True)
    ] = None
    speculative_moe_a2a_backend: A[
        str | None, Arg("Expert exchange of the draft model.", choices.MOE_A2A_BACKEND_CHOICES, resolvable=True)
    ] = None
    speculative_draft_model_quantization: A[
        str | None, Arg("The draft model's quantization method.", choices.QUANTIZATION_CHOICES)
    ] = None
    enable_multi_layer_eagle: A[bool, Arg("EAGLE over several layers.", resolvable=True)] = False

    # -- mixture of experts
    ep_size: A[int, Arg("Expert parallel ranks.", aliases=("--expert-parallel-size", "--ep"), resolvable=True)] = 1
    moe_a2a_backend: A[str, Arg("How experts exchange tokens.", choices.MOE_A2A_BACKEND_CHOICES, resolvable=True)] = (
        "none"
    )
    moe_runner_backend: A[str, Arg("Expert kernels.", choices.MOE_RUNNER_BACKEND_CHOICES, resolvable=True)] = "auto"
    deepep_mode: A[str, Arg("DeepEP's mode.", choices.DEEPEP_MODE_CHOICES)] = "auto"
    moe_dense_tp_size: A[int | None, Arg("Tensor parallel ranks of dense layers.", resolvable=True)] = None
    enable_deepep_waterfill: A[bool, Arg("Shared experts balance the load over DeepEP.")] = False
    disable_shared_experts_fusion: A[bool, Arg("Shared experts apart from routed ones.", resolvable=True)] = False
    enforce_shared_experts_fusion: A[bool, Arg("Shared experts always with routed ones.")] = False

    # -- hybrid models
    mamba_radix_cache_strategy: A[
        str,
        Arg(
            "How state layers take part in the prefix cache.",
            choices.MAMBA_RADIX_CACHE_STRATEGY_CHOICES,
            ("--mamba-scheduler-strategy",),
            resolvable=True,
        ),
    ] = "auto"
    mamba_track_interval: A[int, Arg("Tokens between saved states.")] = 256
    linear_attn_backend: A[str, Arg("Linear attention kernels.", choices.LINEAR_ATTN_KERNEL_BACKEND_CHOICES)] = (
        "triton"
    )

    # -- caches beyond the device
    enable_hierarchical_cache: A[bool, Arg("A cache in host memory behind the device's.")] = False
    hicache_io_backend: A[str, Arg("How pages move between the two.", choices.HICACHE_IO_BACKEND_CHOICES)] = "kernel"
    hicache_mem_layout: A[str, Arg("How pages lie in host memory.", choices.HICACHE_MEM_LAYOUT_CHOICES)] = (
        "page_first"
    )
    enable_hisparse: A[bool, Arg("Sparse attention over a hierarchical cache.")] = False
    enable_lmcache: A[bool, Arg("LMCache in place of the hierarchical cache.")] = False

    # -- collectives, determinism, the rest
    disable_custom_all_reduce: A[bool, Arg("NCCL's all-reduce only.")] = False
    enable_flashinfer_allreduce_fusion: A[bool, Arg("The earlier form of the backend's flag.")] = False
    enforce_disable_flashinfer_allreduce_fusion: A[bool, Arg("Never fuse all-reduce, whatever the model.")] = False
    flashinfer_allreduce_fusion_backend: A[
        str | None, Arg("What fuses all-reduce.", choices.FLASHINFER_ALLREDUCE_FUSION_CHOICES, resolvable=True)
    ] = None
    enable_aiter_allreduce_fusion: A[bool, Arg("AITER fuses all-reduce.")] = False
    enable_two_batch_overlap: A[bool, Arg("Two half batches, one computing while the other communicates.")] = False
    enable_deterministic_inference: A[bool, Arg("The same answer whatever else is in the batch.")] = False
    rl_on_policy_target: A[
        str | None, Arg("The training system to match exactly.", choices.RL_ON_POLICY_TARGET_CHOICES)
    ] = None
    dllm_algorithm: A[str | None, Arg("The algorithm of a diffusion language model.")] = None
    disaggregation_mode: A[
        str, Arg("Prefill or decode alone, or both (null).", choices.DISAGGREGATION_MODE_CHOICES)
    ] = "null"
    disaggregation_transfer_backend: A[
        str, Arg("What moves the cache between the two.", choices.DISAGG_TRANSFER_BACKEND_CHOICES)
    ] = "mooncake"

    # -- state that is no argument
    uses_mamba_radix_cache: A[
        bool, Arg("Whether the prefix cache keeps states too.", no_cli=True, resolvable=True)
    ] = field(default=False, init=False)
    _quantization_explicitly_unset: bool = field(default=False, init=False)
