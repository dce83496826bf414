"""Qwen 3: mixture of experts, the hybrids with state layers (Qwen3-Next, Qwen 3.5 and kin), and Qwen3-VL."""

from __future__ import annotations

from typing import Final

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.facts import architecture_in
from declarative.passes.attention_backend import default_attention_backend
from declarative.passes.mamba import mamba_extra_buffer_of
from harness.world.environ import envs
from harness.world.machine import is_hip, is_sm100_supported
from harness.world.modelfacts import get_quantization_config

QWEN3_HYBRID_ARCHITECTURES: Final = (
    "Qwen3NextForCausalLM",
    "Qwen3_5MoeForConditionalGeneration",
    "InternS2PreviewForConditionalGeneration",
    "Qwen3_5ForConditionalGeneration",
)
QWEN3_ARCHITECTURES: Final = (
    "Qwen3MoeForCausalLM",
    "Qwen3VLMoeForConditionalGeneration",
    *QWEN3_HYBRID_ARCHITECTURES,
)


@post_process(writes=("quantization", "moe_runner_backend"), when=architecture_in(*QWEN3_ARCHITECTURES))
def _qwen3_moe_family_overrides(view: ResolvedView) -> Declaration | None:
    """On SM100 flashinfer has kernels for Qwen 3's experts.

    If the user chose no method and did not opt out, the pass takes over that of the checkpoint.
    """
    if not is_sm100_supported():
        return None
    declared: Declaration = {}
    quant_method = get_quantization_config(view.model.hf_config)
    quantization = view.quantization
    if quantization is None and not view._quantization_explicitly_unset and quant_method is not None:
        quantization = declared["quantization"] = quant_method
    if (
        (quantization in ("fp8", "modelopt_fp4") or quantization is None)
        and view.moe_a2a_backend == "none"
        and view.moe_runner_backend == "auto"
    ):
        declared["moe_runner_backend"] = "flashinfer_trtllm"
    return declared


@post_process(writes=("attention_backend", "page_size"), when=architecture_in(*QWEN3_HYBRID_ARCHITECTURES))
def _qwen3_5_hybrid_overrides(view: ResolvedView) -> Declaration | None:
    """On SM100 trtllm_mha is the default, but it cannot run where the states force pages of one token.

    Backend and page size depend on each other, so one pass declares both.
    """
    if view.attention_backend is not None or not is_sm100_supported():
        return None
    forces_single_tokens = (
        not mamba_extra_buffer_of(view) and not view.disable_radix_cache and view.speculative_algorithm is None
    )
    if not forces_single_tokens and default_attention_backend(view) == "trtllm_mha":
        return {"attention_backend": "trtllm_mha", "page_size": 64}
    return {"attention_backend": "triton", "page_size": 1}


@post_process(writes=("page_size",), when=architecture_in("Qwen3VLForConditionalGeneration"))
def _qwen3vl_overrides(view: ResolvedView) -> Declaration | None:
    """AITER's unified attention reads pages of 16 tokens."""
    if is_hip() and envs.SGLANG_USE_AITER_UNIFIED_ATTN.get() and view.page_size is None:
        return {"page_size": 16}
    return None
