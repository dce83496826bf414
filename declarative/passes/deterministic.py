"""Deterministic inference: a request gets the same answer whatever else is in the batch."""

from __future__ import annotations

from typing import Final

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.facts import is_deterministic
from harness.world.choices import (
    DETERMINISTIC_ATTENTION_BACKEND_CHOICES,
    RADIX_SUPPORTED_DETERMINISTIC_ATTENTION_BACKEND,
)
from harness.world.machine import is_hip, is_sm100_supported, is_sm120_supported
from harness.world.modelfacts import INSTANCE, parse_connector_type

DEEPSEEK_ARCHITECTURES: Final = (
    "DeepseekV2ForCausalLM",
    "DeepseekV3ForCausalLM",
    "DeepseekV32ForCausalLM",
    "MistralLarge3ForCausalLM",
    "PixtralForConditionalGeneration",
    "GlmMoeDsaForCausalLM",
)


@post_process(
    state=("enable_deterministic_inference",),
    env=("SGLANG_VLM_CACHE_SIZE_MB", "SGLANG_ENABLE_DETERMINISTIC_INFERENCE"),
    when=is_deterministic,
)
def _on_policy_determinism(view: ResolvedView) -> Declaration | None:
    """An exact match with a training system needs determinism and no cache of images."""
    if view.rl_on_policy_target is not None:
        return {
            "enable_deterministic_inference": True,
            "SGLANG_VLM_CACHE_SIZE_MB": 0,
            "SGLANG_ENABLE_DETERMINISTIC_INFERENCE": True,
        }
    return None


@post_process(
    writes=("flashinfer_allreduce_fusion_backend",),
    state=("enable_aiter_allreduce_fusion",),
    when=is_deterministic,
)
def _deterministic_allreduce_fusion_disable(view: ResolvedView) -> Declaration:
    """A fused all-reduce adds in another order, which changes the last bits of a sum."""
    declared: Declaration = {"enable_aiter_allreduce_fusion": False}
    if view.flashinfer_allreduce_fusion_backend is not None:
        declared["flashinfer_allreduce_fusion_backend"] = None
    return declared


@post_process(writes=("sampling_backend",), when=is_deterministic)
def _deterministic_sampling_backend(view: ResolvedView) -> Declaration | None:
    """PyTorch and Ascend sample deterministically, flashinfer does not."""
    return None if view.sampling_backend == "ascend" else {"sampling_backend": "pytorch"}


@post_process(writes=("attention_backend",), when=is_deterministic)
def _deterministic_attention_backend(view: ResolvedView) -> Declaration | None:
    """Only some attention backends are deterministic, and for DeepSeek's attention only fa3 and triton.

    Raises ValueError for a backend that is not deterministic.
    """
    is_deepseek_model = (
        parse_connector_type(view.model_path) != INSTANCE and view.model.architecture in DEEPSEEK_ARCHITECTURES
    )
    backend = view.attention_backend
    if backend is None:
        if is_sm100_supported() or is_sm120_supported():
            backend = "triton" if is_deepseek_model else "flashinfer"
        else:
            backend = "fa3"
    elif backend not in DETERMINISTIC_ATTENTION_BACKEND_CHOICES:
        raise ValueError(f"{backend} is not deterministic, only {DETERMINISTIC_ATTENTION_BACKEND_CHOICES} are")
    if is_deepseek_model and backend not in ("fa3", "triton"):
        raise ValueError(f"{backend} is not deterministic for DeepSeek, only fa3 and triton are")
    return None if backend == view.attention_backend else {"attention_backend": backend}


@post_process(state=("disable_radix_cache",), when=is_deterministic)
def _deterministic_radix_cache_disable(view: ResolvedView) -> Declaration | None:
    """A cached prefix changes the order of sums, except in fa3, triton and ascend."""
    if view.attention_backend in RADIX_SUPPORTED_DETERMINISTIC_ATTENTION_BACKEND:
        return None
    return {"disable_radix_cache": True}


@post_process(state=("disable_custom_all_reduce",), env=("NCCL_ALGO",), when=is_deterministic)
def _deterministic_collectives(view: ResolvedView) -> Declaration | None:
    """NCCL adds in the same order every time only along a tree; ROCm does so by itself."""
    if view.tp_size > 1 and not is_hip():
        return {"NCCL_ALGO": "allreduce:tree", "disable_custom_all_reduce": True}
    return None
