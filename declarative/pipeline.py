"""Lists every pass and every provider in execution order, here and nowhere else, and runs them over a record.

The slots have the numbers and the order of the resolution slice. Which check refuses first, and which variables are
set by then, depends on that order. Within a slot, steps run from top to bottom. Passes of different families never
run for the same case, because each runs only for its own architectures.

Passes have the names of the functions in 0.5.15 that do the same, underscore included, so that a report on both shows
one name. The list names each with its module (``moe._name``), so that no module imports a private name from another.
"""

from __future__ import annotations

from typing import Final

from declarative.engine.errors import DeclarationError
from declarative.engine.order import constraints_of
from declarative.engine.pipeline import DISPATCH, Pipeline, Resolution, Slot
from declarative.engine.registry import Registry
from declarative.families import (
    deepseek_v3,
    deepseek_v4,
    dsa,
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
from declarative.families.constants import MODEL_OVERRIDES, REASONS
from declarative.inputs.facts import facts_of
from declarative.inputs.model import read_only_model
from declarative.inputs.server_args import ServerArgs
from declarative.inputs.state import STATE
from declarative.order import ORDER
from declarative.passes import (
    a2a,
    allreduce_fusion,
    attention_backend,
    deterministic,
    dllm,
    mamba,
    moe,
    overlap,
    page_size,
    parallelism,
    platforms,
    quantization,
    sampling,
)
from harness.world.case import BrokenSetUp
from harness.world.machine import current

REGISTRY: Final = Registry(
    constants=MODEL_OVERRIDES,
    reasons=REASONS,
    exact=(
        (mimo_v2.MIMO_V2_ARCHITECTURES, mimo_v2._mimo_v2_overrides),
        (sliding_window.GEMMA_ARCHITECTURES, sliding_window._gemma2_gemma3_overrides),
        (sliding_window.EXAONE_ARCHITECTURES, sliding_window._exaone_overrides),
        ("MiniMaxM2ForCausalLM", minimax_m2._minimax_m2_overrides),
    ),
    predicates=((sliding_window.is_step3p_name, sliding_window._step3p_overrides),),
)

PASSES: Final = (
    Slot(0, "deprecated_args", (allreduce_fusion._flashinfer_allreduce_fusion_alias,)),
    Slot(1, "quantization_opt_out", (quantization._quantization_opt_out,)),
    Slot(2, "hpu_backends", (platforms._hpu_defaults,)),
    Slot(3, "cpu_backends", (platforms._cpu_defaults,)),
    Slot(4, "npu_backends", (platforms._npu_defaults,)),
    Slot(5, "mps_backends", (platforms._mps_overlap_disable,)),
    Slot(6, "xpu_backends", (platforms._xpu_prefill_graph_disable,)),
    Slot(7, "deterministic_fusion_opt_out", (allreduce_fusion._deterministic_fusion_opt_out,)),
    Slot(
        8,
        "model_specific_adjustments",
        (
            DISPATCH,
            # DeepSeek V4
            deepseek_v4._deepseek_v4_kv_cache_dtype,
            deepseek_v4._deepseek_v4_speculation_validation,
            deepseek_v4._deepseek_v4_overrides,
            deepseek_v4._deepseek_v4_context_parallelism,
            deepseek_v4._deepseek_v4_sm120_moe,
            # DeepSeek V3, with sparse attention and without
            deepseek_v3._dsa_attention_defaults,
            deepseek_v3._dsa_two_batch_overlap_validation,
            deepseek_v3._dsa_context_parallelism,
            deepseek_v3._dsa_page_size,
            dsa._dsa_kv_cache_dtype_default,
            dsa._dsa_split_backend_resolution,
            deepseek_v3._dsa_context_parallelism_validation,
            deepseek_v3._deepseek_family_overrides,
            deepseek_v3._deepseek_moe_quant_resolution,
            deepseek_v3._deepseek_spec_moe_resolution,
            # Families of attention layers only
            gpt_oss._gpt_oss_attention_backend,
            gpt_oss._gpt_oss_validation,
            gpt_oss._gpt_oss_overrides,
            mimo_v2._mimo_v2_validation,
            sliding_window._step3p_attention_backend,
            llama4._llama4_overrides,
            sliding_window._gemma4_overrides,
            moss_vl._moss_vl_overrides,
            sliding_window._exaone_validation,
            sliding_window._olmo2_overrides,
            glm4_moe._glm4_moe_overrides,
            # Families with state layers, then the cache of the states
            hybrid._nemotron_h_overrides,
            qwen3._qwen3_moe_family_overrides,
            qwen3._qwen3_5_hybrid_overrides,
            hybrid._minicpm_v4_6_overrides,
            hybrid._falcon_h1_jet_overrides,
            hybrid._granite_moe_hybrid_overrides,
            hybrid._lfm2_overrides,
            mamba._mamba_radix_cache_resolution,
            hybrid._first_layer_validation,
            # Across families
            qwen3._qwen3vl_overrides,
            overlap._sparse_head_overlap_disable,
            allreduce_fusion._flashinfer_allreduce_fusion_auto_enable,
            allreduce_fusion._enforce_disable_allreduce_fusion,
        ),
    ),
    Slot(9, "sampling_backend", (sampling._sampling_backend_default,)),
    Slot(
        10,
        "deterministic_inference",
        (
            deterministic._on_policy_determinism,
            deterministic._deterministic_allreduce_fusion_disable,
            deterministic._deterministic_sampling_backend,
            deterministic._deterministic_attention_backend,
            deterministic._deterministic_radix_cache_disable,
            deterministic._deterministic_collectives,
        ),
    ),
    Slot(
        11,
        "attention_backend_compatibility",
        (
            attention_backend._attention_backend_default,
            attention_backend._graph_disable_for_attention_backend,
            attention_backend._whisper_radix_cache_disable,
            page_size._mla_backend_page_constraints,
            attention_backend._cutedsl_prefill_backend_fill,
            attention_backend._attention_backend_fa3_fp8_fallback,
            page_size._fa4_page_constraint,
            attention_backend._aiter_memory_fraction,
            attention_backend._attention_backend_platform_fallbacks,
            page_size._intel_xpu_page_constraint,
            attention_backend._attention_backend_dual_chunk,
        ),
    ),
    Slot(12, "kv4_compatibility", (attention_backend._kv4_compatibility,)),
    Slot(13, "page_size", (page_size._page_size_default,)),
    Slot(
        14,
        "data_parallelism",
        (
            parallelism._data_parallelism_defaults,
            parallelism._dp_attention_scaling,
            parallelism._dp_lm_head_validation,
        ),
    ),
    Slot(
        15,
        "moe_kernel_config",
        (moe._moe_runner_backend_quant_constraints, moe._moe_runner_fusion_disable, moe._cutlass_moe_env_override),
    ),
    Slot(
        16,
        "a2a_moe",
        (
            a2a._a2a_backend_overrides,
            a2a._a2a_ep_size,
            a2a._a2a_fusion_adjustments,
            a2a._a2a_mode_and_checks,
        ),
    ),
    Slot(17, "pipeline_parallelism", (parallelism._pipeline_parallel_overlap_disable,)),
    Slot(18, "speculative_decoding", (moe._speculative_moe_runner_default,)),
    Slot(19, "load_format", (quantization._gguf_quantization,)),
    Slot(
        20,
        "dllm_inference",
        (dllm._dllm_attention_backend, dllm._dllm_overlap_disable, dllm._dllm_page_size, dllm._dllm_feature_disable),
    ),
)

PIPELINE: Final = Pipeline(PASSES, record=ServerArgs, state=STATE, registry=REGISTRY, order=constraints_of(ORDER))


def run_passes(resolution: Resolution, pipeline: Pipeline = PIPELINE) -> None:
    """Run all passes over a fresh ``resolution`` on the current case's machine and model; the record stays pristine.

    ``pipeline`` may have the same passes in another order. Raises what a pass raises, and BrokenSetUp if a pass
    declares a name that it may not declare.
    """
    machine = current()
    model = read_only_model(machine.model_config)
    try:
        pipeline.resolve(resolution, model, facts_of(resolution.arguments, model), machine.env.__setitem__)
    except DeclarationError as error:
        # A pass that declares what it may not is wrong for every user: it must not look like a refusal.
        raise BrokenSetUp(str(error)) from error
