"""Families with state layers between attention layers: Nemotron-H, Falcon-H1, Jet, Granite 4, LFM2, MiniCPM-V."""

from __future__ import annotations

from typing import Any, Final

from declarative.engine.steps import Declaration, check, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.facts import architecture_in
from declarative.inputs.model import ModelView
from harness.world.machine import get_device_capability, is_cuda, is_sm100_supported

NEMOTRON_H_ARCHITECTURES: Final = ("NemotronHForCausalLM", "NemotronHPuzzleForCausalLM")
_MODELOPT: Final = ("modelopt", "modelopt_fp8", "modelopt_fp4", "modelopt_mixed")


@post_process(
    writes=("quantization", "moe_runner_backend", "attention_backend"),
    when=architecture_in(*NEMOTRON_H_ARCHITECTURES),
)
def _nemotron_h_overrides(view: ResolvedView) -> Declaration:
    """Nemotron-H checkpoints name their quantization themselves, which decides the kernels of their experts.

    Raises AssertionError if a quantized checkpoint has another activation than relu2. Raises TypeError for an FP4
    checkpoint on CUDA without a compute capability, because the original does.
    """
    declared: Declaration = {}
    detected = view.model.config.quantization
    is_modelopt = detected in _MODELOPT
    quantization = view.quantization
    if is_modelopt:
        assert view.model.hf_config.mlp_hidden_act == "relu2", "a quantized Nemotron-H activates with relu2"
        quantization = declared["quantization"] = _modelopt_method(view.model, detected)

    if (is_modelopt or detected is None) and view.moe_runner_backend == "auto":
        is_fp4 = detected in ("modelopt_fp4", "modelopt_mixed") or quantization == "modelopt_fp4"
        declared["moe_runner_backend"] = _experts(view, is_fp4)
    if is_sm100_supported() and view.attention_backend is None:
        declared["attention_backend"] = "flashinfer"
    return declared


def _modelopt_method(model: ModelView, detected: Any) -> Any:
    if detected != "modelopt":
        return detected
    quant_algo = model.hf_config.quantization_config["quant_algo"]
    if quant_algo == "MIXED_PRECISION":
        return "modelopt_mixed"
    return "modelopt_fp4" if quant_algo == "NVFP4" else "modelopt_fp8"


def _experts(view: ResolvedView, is_fp4: bool) -> str:
    if is_sm100_supported() and view.moe_a2a_backend == "none":
        return "flashinfer_trtllm"
    # If the device has no compute capability, this comparison raises TypeError, as it does in the original.
    if is_fp4 and is_cuda() and (8, 0) <= get_device_capability() < (10, 0):  # type: ignore[operator]
        return "marlin"
    return "flashinfer_cutlass"


MINICPM_V_ARCHITECTURES: Final = ("MiniCPMV4_6ForConditionalGeneration",)


@post_process(writes=("attention_backend",), when=architecture_in(*MINICPM_V_ARCHITECTURES))
def _minicpm_v4_6_overrides(view: ResolvedView) -> Declaration | None:
    """On SM100, triton runs the attention layers between the state layers."""
    if view.attention_backend is None and is_sm100_supported():
        return {"attention_backend": "triton"}
    return None


FALCON_JET_ARCHITECTURES: Final = ("FalconH1ForCausalLM", "JetNemotronForCausalLM", "JetVLMForConditionalGeneration")


@post_process(writes=("attention_backend",), when=architecture_in(*FALCON_JET_ARCHITECTURES))
def _falcon_h1_jet_overrides(view: ResolvedView) -> Declaration | None:
    """On SM100, triton runs the attention layers between the state layers."""
    if view.attention_backend is None and is_sm100_supported():
        return {"attention_backend": "triton"}
    return None


@post_process(writes=("attention_backend",), when=architecture_in("GraniteMoeHybridForCausalLM"))
def _granite_moe_hybrid_overrides(view: ResolvedView) -> Declaration | None:
    """On SM100, flashinfer runs the attention layers between the state layers."""
    if "mamba" in view.model.hf_config.layer_types and view.attention_backend is None and is_sm100_supported():
        return {"attention_backend": "flashinfer"}
    return None


@post_process(writes=("attention_backend",), when=architecture_in("Lfm2ForCausalLM"))
def _lfm2_overrides(view: ResolvedView) -> Declaration | None:
    """On SM100, flashinfer runs the attention layers between the state layers."""
    if view.attention_backend is None and is_sm100_supported():
        return {"attention_backend": "flashinfer"}
    return None


@check(when=architecture_in("Lfm2ForCausalLM", *NEMOTRON_H_ARCHITECTURES))
def _first_layer_validation(view: ResolvedView) -> None:
    """triton looks for the KV cache at the first layer, which may be a state layer without one.

    The check runs after the pass for the states' cache, because that pass refuses first in the original. Raises
    AssertionError for triton.
    """
    architecture = view.model.architecture
    name = "Nemotron-H" if architecture in NEMOTRON_H_ARCHITECTURES else architecture
    assert view.attention_backend != "triton", (
        f"{name} cannot attend with triton: its first layer may be a state layer"
    )
