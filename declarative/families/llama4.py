"""Llama 4."""

from __future__ import annotations

from typing import Final

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.facts import Facts
from harness.world.machine import is_hip, is_sm90_supported, is_sm100_supported

LLAMA4_ARCHITECTURES: Final = ("Llama4ForConditionalGeneration", "Llama4ForCausalLM")


def is_llama4_on_device(facts: Facts) -> bool:
    """Whether the model is Llama 4 and the device is not a CPU."""
    return facts.architecture in LLAMA4_ARCHITECTURES and facts.device != "cpu"


@post_process(writes=("attention_backend", "moe_runner_backend"), when=is_llama4_on_device)
def _llama4_overrides(view: ResolvedView) -> Declaration:
    """Few backends support Llama 4's chunked attention, and its FP8 experts have flashinfer's kernels on SM100.

    Raises AssertionError for another backend.
    """
    declared: Declaration = {}
    backend = view.attention_backend
    if backend is None:
        backend = declared["attention_backend"] = _default_backend(view)
    accepted = ("fa3", "aiter", "triton", "ascend", "trtllm_mha", "intel_xpu")
    assert backend in accepted, f"Llama 4 attends with one of {accepted}, not with {backend}"
    if view.quantization in ("fp8", "modelopt_fp8") and view.moe_runner_backend == "auto" and is_sm100_supported():
        declared["moe_runner_backend"] = "flashinfer_trtllm"
    return declared


def _default_backend(view: ResolvedView) -> str:
    if is_sm100_supported():
        return "trtllm_mha"
    if is_sm90_supported():
        return "fa3"
    if is_hip():
        return "aiter"
    return "intel_xpu" if view.device == "xpu" else "triton"
