"""Families with sliding-window layers: Gemma, EXAONE, OLMo 2, Step-3."""

from __future__ import annotations

from typing import Final

from declarative.engine.steps import Declaration, check, post_process, provider
from declarative.engine.view import ReadOnlyView, ResolvedView
from declarative.inputs.facts import Facts, architecture_in
from declarative.inputs.model import ModelView
from declarative.inputs.reading import attention_backends_of, is_attention_backend_not_set
from harness.world.machine import (
    get_device_sm,
    is_blackwell_supported,
    is_cuda,
    is_sm90_supported,
    is_sm100_supported,
)

GEMMA_ARCHITECTURES: Final = (
    "Gemma2ForCausalLM",
    "Gemma3ForCausalLM",
    "Gemma3ForConditionalGeneration",
    "Gemma3nForCausalLM",
    "Gemma3nForConditionalGeneration",
)
GEMMA4_ARCHITECTURES: Final = (
    "Gemma4ForConditionalGeneration",
    "Gemma4ForCausalLM",
    "Gemma4UnifiedForConditionalGeneration",
)


@provider(writes=("disable_hybrid_swa_memory",))
def _gemma2_gemma3_overrides(arguments: ReadOnlyView, model: ModelView) -> Declaration:
    """Gemma's sliding-window layers share one memory pool with the full-attention layers."""
    return {"disable_hybrid_swa_memory": True}


@post_process(
    writes=("attention_backend", "quantization", "moe_runner_backend"), when=architecture_in(*GEMMA4_ARCHITECTURES)
)
def _gemma4_overrides(view: ResolvedView) -> Declaration:
    """Gemma 4's wide heads need one of few attention backends, and its FP4 checkpoints have expert kernels on SM100.

    Raises AssertionError for another backend.
    """
    declared: Declaration = {}
    backend = view.attention_backend
    prefill_backend, decode_backend = attention_backends_of(view)
    if backend is None:
        # Also if the user chose the backend of one phase: the other must not get one that the model cannot use.
        backend = declared["attention_backend"] = "trtllm_mha" if is_sm100_supported() else "triton"
        if not prefill_backend:
            prefill_backend = backend
        if not decode_backend:
            decode_backend = backend
    accepted = ("trtllm_mha", "triton", "ascend", "intel_xpu")
    assert prefill_backend in accepted and decode_backend in accepted, (
        f"Gemma 4 attends with one of {accepted}, not with {prefill_backend} and {decode_backend}"
    )
    if (
        view.model.config.quantization == "modelopt_fp4"
        and view.moe_runner_backend == "auto"
        and is_sm100_supported()
    ):
        declared |= {"quantization": "modelopt_fp4", "moe_runner_backend": "flashinfer_trtllm"}
    return declared


EXAONE_ARCHITECTURES: Final = ("Exaone4ForCausalLM", "ExaoneMoEForCausalLM")


@provider(writes=("disable_hybrid_swa_memory",))
def _exaone_overrides(arguments: ReadOnlyView, model: ModelView) -> Declaration | None:
    """EXAONE's sliding-window layers share one memory pool with the full-attention layers."""
    return None if model.hf_config.sliding_window_pattern is None else {"disable_hybrid_swa_memory": True}


@check(when=architecture_in(*EXAONE_ARCHITECTURES))
def _exaone_validation(view: ResolvedView) -> None:
    """Few backends have EXAONE's sliding windows, and the user must name one of them.

    Raises AssertionError for any other backend.
    """
    if view.model.hf_config.sliding_window_pattern is not None:
        accepted = ("fa3", "triton", "trtllm_mha")
        assert view.attention_backend in accepted, (
            f"EXAONE's sliding windows need one of {accepted}, not {view.attention_backend}"
        )


@post_process(writes=("attention_backend",), when=architecture_in("Olmo2ForCausalLM"))
def _olmo2_overrides(view: ResolvedView) -> Declaration | None:
    """OLMo 2 needs a backend that is fast with sliding windows.

    Raises AssertionError for flashinfer, which is not.
    """
    backend = view.attention_backend
    assert backend != "flashinfer", "flashinfer is too slow for OLMo's sliding windows"
    if backend is not None:
        return None
    if is_cuda() and is_sm100_supported():
        return {"attention_backend": "trtllm_mha"}
    return {"attention_backend": "fa3" if is_cuda() and get_device_sm() >= 80 else "triton"}


def is_step3p_name(architecture: str) -> bool:
    """Return whether ``architecture`` contains one of the family's names, such as that of the draft model does."""
    return "Step3p5ForCausalLM" in architecture or "Step3p7ForConditionalGeneration" in architecture


def is_step3p(facts: Facts) -> bool:
    """Whether the model is of the Step-3 family."""
    return facts.architecture is not None and is_step3p_name(facts.architecture)


@provider(writes=("enable_multi_layer_eagle", "swa_full_tokens_ratio", "disable_hybrid_swa_memory"))
def _step3p_overrides(arguments: ReadOnlyView, model: ModelView) -> Declaration:
    """Step-3's draft model has several layers, and its hierarchical cache needs one memory pool for all layers."""
    declared: Declaration = {}
    if arguments.speculative_algorithm == "EAGLE":
        declared["enable_multi_layer_eagle"] = True
    if arguments.enable_hierarchical_cache:
        declared |= {"swa_full_tokens_ratio": 1.0, "disable_hybrid_swa_memory": True}
    return declared


@post_process(writes=("attention_backend",), when=is_step3p)
def _step3p_attention_backend(view: ResolvedView) -> Declaration | None:
    """Step-3 runs on the FlashAttention of the machine's generation; a platform's own default counts as chosen."""
    if not is_attention_backend_not_set(view):
        return None
    if is_blackwell_supported():
        return {"attention_backend": "fa4"}
    return {"attention_backend": "fa3"} if is_sm90_supported() else None
