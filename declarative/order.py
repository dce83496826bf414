"""Which passes must come before which, field by field; the pipeline refuses to start in another order.

Each field has groups of passes. All passes of a group come before all passes of the next group, and passes within a
group may come in any order. The table lists only an order that matters: one pass reads or writes what the other one
writes, and exchanging both changes the outcome of a case. ``stackproof hazards --cases 20000 --seed 1`` found these
pairs, and shows a case for each. `declarative.pipeline` states the order itself; this table states what of it must
not change, so that a pass moved by mistake is an error at import and not a difference in one case of a million.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

ORDER: Final[Mapping[str, Sequence[Sequence[str]]]] = {
    "_quantization_explicitly_unset": (
        ("_quantization_opt_out",),
        ("_deepseek_moe_quant_resolution",),
    ),
    "attention_backend": (
        ("_hpu_defaults", "_cpu_defaults", "_npu_defaults"),
        (
            "_deepseek_v4_overrides",
            "_dsa_attention_defaults",
            "_deepseek_family_overrides",
            "_gpt_oss_attention_backend",
        ),
        (
            "_gpt_oss_validation",
            "_step3p_attention_backend",
            "_llama4_overrides",
            "_gemma4_overrides",
            "_moss_vl_overrides",
            "_exaone_validation",
            "_olmo2_overrides",
            "_nemotron_h_overrides",
            "_qwen3_5_hybrid_overrides",
            "_falcon_h1_jet_overrides",
            "_granite_moe_hybrid_overrides",
            "_lfm2_overrides",
        ),
        ("_mamba_radix_cache_resolution", "_first_layer_validation", "_deterministic_attention_backend"),
        ("_deterministic_radix_cache_disable", "_attention_backend_default"),
        (
            "_graph_disable_for_attention_backend",
            "_mla_backend_page_constraints",
            "_cutedsl_prefill_backend_fill",
            "_attention_backend_fa3_fp8_fallback",
            "_fa4_page_constraint",
            "_aiter_memory_fraction",
        ),
        ("_attention_backend_platform_fallbacks",),
        ("_intel_xpu_page_constraint", "_attention_backend_dual_chunk", "_kv4_compatibility"),
    ),
    "chunked_prefill_size": (
        ("_npu_defaults",),
        ("_dp_attention_scaling", "_a2a_mode_and_checks"),
    ),
    "cuda_graph_config.decode.backend": (
        ("_graph_disable_for_attention_backend",),
        ("_a2a_fusion_adjustments",),
    ),
    "cuda_graph_config.prefill.backend": (
        ("_xpu_prefill_graph_disable", "_dsa_context_parallelism", "_deepseek_family_overrides"),
        ("_graph_disable_for_attention_backend",),
        ("_a2a_fusion_adjustments",),
    ),
    "decode_attention_backend": (
        ("_npu_defaults",),
        ("_deepseek_v4_overrides", "_gpt_oss_validation", "_gemma4_overrides", "_moss_vl_overrides"),
        (
            "_attention_backend_default",
            "_mla_backend_page_constraints",
            "_cutedsl_prefill_backend_fill",
            "_fa4_page_constraint",
            "_intel_xpu_page_constraint",
            "_kv4_compatibility",
        ),
    ),
    "disable_custom_all_reduce": (
        ("_npu_defaults",),
        ("_deterministic_collectives",),
    ),
    "disable_overlap_schedule": (
        ("_mps_overlap_disable",),
        ("_mamba_radix_cache_resolution",),
        ("_sparse_head_overlap_disable", "_pipeline_parallel_overlap_disable"),
    ),
    "disable_radix_cache": (
        ("_qwen3_5_hybrid_overrides", "_mamba_radix_cache_resolution"),
        ("_deterministic_radix_cache_disable", "_whisper_radix_cache_disable", "_attention_backend_dual_chunk"),
    ),
    "disable_shared_experts_fusion": (
        ("_moe_runner_fusion_disable",),
        ("_a2a_fusion_adjustments",),
    ),
    "enable_dp_attention": (
        ("_deepseek_v4_context_parallelism", "_dsa_context_parallelism", "_deepseek_family_overrides"),
        ("_flashinfer_allreduce_fusion_auto_enable",),
        ("_data_parallelism_defaults", "_dp_attention_scaling", "_dp_lm_head_validation"),
        ("_a2a_ep_size",),
    ),
    "ep_size": (
        ("_dsa_context_parallelism", "_deepseek_family_overrides"),
        (
            "_deepseek_spec_moe_resolution",
            "_gpt_oss_overrides",
            "_moe_runner_fusion_disable",
            "_cutlass_moe_env_override",
        ),
        ("_a2a_ep_size",),
    ),
    "flashinfer_allreduce_fusion_backend": (
        ("_flashinfer_allreduce_fusion_alias",),
        ("_flashinfer_allreduce_fusion_auto_enable",),
        ("_enforce_disable_allreduce_fusion", "_deterministic_allreduce_fusion_disable"),
    ),
    "kv_cache_dtype": (
        ("_deepseek_v4_kv_cache_dtype", "_dsa_kv_cache_dtype_default"),
        (
            "_dsa_split_backend_resolution",
            "_mla_backend_page_constraints",
            "_attention_backend_fa3_fp8_fallback",
            "_kv4_compatibility",
        ),
    ),
    "mamba_radix_cache_strategy": (
        ("_qwen3_5_hybrid_overrides",),
        ("_mamba_radix_cache_resolution",),
    ),
    "moe_a2a_backend": (
        ("_dsa_context_parallelism", "_deepseek_family_overrides"),
        (
            "_deepseek_moe_quant_resolution",
            "_glm4_moe_overrides",
            "_nemotron_h_overrides",
            "_qwen3_moe_family_overrides",
            "_flashinfer_allreduce_fusion_auto_enable",
            "_moe_runner_fusion_disable",
        ),
        ("_a2a_backend_overrides",),
        ("_a2a_ep_size", "_a2a_fusion_adjustments", "_a2a_mode_and_checks"),
    ),
    "moe_runner_backend": (
        (
            "_deepseek_v4_overrides",
            "_deepseek_v4_sm120_moe",
            "_deepseek_moe_quant_resolution",
            "_gpt_oss_overrides",
            "_llama4_overrides",
            "_gemma4_overrides",
            "_glm4_moe_overrides",
            "_nemotron_h_overrides",
            "_qwen3_moe_family_overrides",
        ),
        ("_moe_runner_backend_quant_constraints",),
        ("_moe_runner_fusion_disable",),
        ("_cutlass_moe_env_override",),
        ("_a2a_mode_and_checks", "_speculative_moe_runner_default"),
    ),
    "page_size": (
        ("_npu_defaults",),
        ("_deepseek_v4_overrides", "_dsa_page_size", "_qwen3_5_hybrid_overrides"),
        ("_mamba_radix_cache_resolution", "_qwen3vl_overrides"),
        ("_attention_backend_default",),
        ("_mla_backend_page_constraints",),
        ("_fa4_page_constraint",),
        ("_intel_xpu_page_constraint",),
        ("_page_size_default",),
    ),
    "prefill_attention_backend": (
        ("_npu_defaults",),
        (
            "_deepseek_v4_overrides",
            "_dsa_attention_defaults",
            "_deepseek_family_overrides",
            "_gpt_oss_attention_backend",
            "_gpt_oss_validation",
            "_step3p_attention_backend",
            "_gemma4_overrides",
            "_moss_vl_overrides",
        ),
        ("_attention_backend_default", "_mla_backend_page_constraints"),
        ("_cutedsl_prefill_backend_fill", "_fa4_page_constraint"),
        ("_intel_xpu_page_constraint", "_kv4_compatibility"),
    ),
    "quantization": (
        ("_quantization_opt_out",),
        (
            "_deepseek_moe_quant_resolution",
            "_deepseek_spec_moe_resolution",
            "_gpt_oss_overrides",
            "_llama4_overrides",
            "_gemma4_overrides",
            "_glm4_moe_overrides",
            "_nemotron_h_overrides",
            "_qwen3_moe_family_overrides",
        ),
        (
            "_moe_runner_backend_quant_constraints",
            "_moe_runner_fusion_disable",
            "_cutlass_moe_env_override",
            "_a2a_mode_and_checks",
        ),
        ("_gguf_quantization",),
    ),
    "sampling_backend": (
        ("_hpu_defaults", "_cpu_defaults"),
        ("_sampling_backend_default", "_deterministic_sampling_backend"),
    ),
    "speculative_moe_runner_backend": (
        ("_deepseek_spec_moe_resolution",),
        ("_speculative_moe_runner_default",),
    ),
}
