"""Gemma 2, 3, 3n and 4."""

from __future__ import annotations

from typing import Final

from declarative.engine.steps import Declaration, post_process, provider
from declarative.engine.view import ReadOnlyView, ResolvedView
from declarative.facts import architecture_in
from declarative.model import Model
from declarative.reading import attention_backends_of
from harness.world.machine import is_sm100_supported

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
def _gemma2_gemma3_overrides(arguments: ReadOnlyView, model: Model) -> Declaration:
    """One memory pool for all layers."""
    return {"disable_hybrid_swa_memory": True}


@post_process(
    writes=("attention_backend", "quantization", "moe_runner_backend"), when=architecture_in(*GEMMA4_ARCHITECTURES)
)
def _gemma4_overrides(view: ResolvedView) -> Declaration:
    """Wide heads need one of few backends; an FP4 checkpoint has flashinfer's expert kernels on SM100.

    Raises AssertionError for another backend.
    """
    declared: Declaration = {}
    backend = view.attention_backend
    prefill_backend, decode_backend = attention_backends_of(view)
    if backend is None:
        # Also where one phase was chosen: the other must not get a backend that the model cannot have.
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
