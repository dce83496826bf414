"""GLM-4 mixture of experts."""

from __future__ import annotations

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.facts import architecture_in
from harness.world.machine import is_sm100_supported
from harness.world.modelfacts import get_quantization_config


@post_process(writes=("quantization", "moe_runner_backend"), when=architecture_in("Glm4MoeForCausalLM"))
def _glm4_moe_overrides(view: ResolvedView) -> Declaration | None:
    """On SM100 flashinfer has kernels for GLM-4's FP4 experts.

    If the user chose no method and did not opt out, the pass takes over that of the checkpoint.
    """
    if not is_sm100_supported():
        return None
    declared: Declaration = {}
    quant_method = get_quantization_config(view.model.hf_config)
    quantization = view.quantization
    if quantization is None and not view._quantization_explicitly_unset and quant_method is not None:
        quantization = declared["quantization"] = quant_method
    if quantization == "modelopt_fp4" and view.moe_a2a_backend == "none" and view.moe_runner_backend == "auto":
        declared["moe_runner_backend"] = "flashinfer_trtllm"
    return declared
