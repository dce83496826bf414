"""Passes over the kernels that run the experts of the model and of its draft model."""

from __future__ import annotations

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from harness.world.environ import envs
from harness.world.machine import is_sm100_supported, is_sm120_supported


@post_process(writes=("moe_runner_backend",))
def _moe_runner_backend_quant_constraints(view: ResolvedView) -> Declaration | None:
    """nvfp4_online, mxfp8 and modelopt_fp4 have expert kernels in few backends.

    Raises ValueError for nvfp4_online on another machine than SM100, or with other kernels than its own.
    """
    quantization = view.quantization
    if quantization == "nvfp4_online":
        if not is_sm100_supported():
            raise ValueError("nvfp4_online quantizes on Blackwell (SM100 and SM103) alone")
        if view.moe_runner_backend == "auto":
            return {"moe_runner_backend": "flashinfer_trtllm"}
        if view.moe_runner_backend not in ("flashinfer_trtllm", "flashinfer_trtllm_routed"):
            raise ValueError(f"nvfp4_online has no experts in {view.moe_runner_backend}, only in flashinfer_trtllm")
    elif quantization == "mxfp8":
        if view.moe_runner_backend not in ("cutlass", "flashinfer_trtllm", "flashinfer_trtllm_routed"):
            return {"moe_runner_backend": "flashinfer_trtllm"}
    elif quantization == "modelopt_fp4" and view.moe_runner_backend == "auto" and is_sm120_supported():
        return {"moe_runner_backend": "flashinfer_cutlass"}
    return None


@post_process(writes=("disable_shared_experts_fusion",))
def _moe_runner_fusion_disable(view: ResolvedView) -> Declaration | None:
    """flashinfer's expert kernels take few quantization methods, and most of them keep shared experts apart.

    Raises AssertionError for a quantization method, expert ranks or an exchange that the chosen kernels do not have.
    """
    runner = view.moe_runner_backend
    if runner == "flashinfer_cutlass":
        _check_quantization(view, "modelopt_fp4", "modelopt_fp8", "modelopt_mixed", None)
        _check_expert_ranks(view)
        return None
    if runner == "flashinfer_cutedsl":
        _check_quantization(view, "modelopt_fp4")
        _check_expert_ranks(view)
        assert view.moe_a2a_backend in ("none", "deepep", "flashinfer"), (
            f"flashinfer_cutedsl cannot take tokens from {view.moe_a2a_backend}"
        )
    elif runner in ("flashinfer_trtllm", "experimental_sgl_trtllm"):
        _check_quantization(
            view,
            "modelopt_fp4",
            "nvfp4_online",
            "fp8",
            "mxfp8",
            "modelopt_fp8",
            "modelopt_mixed",
            "compressed-tensors",
            None,
        )
    elif runner == "flashinfer_trtllm_routed":
        _check_quantization(view, "fp8", "mxfp8", "modelopt_fp4", "nvfp4_online", None)
    else:
        return None
    return {"disable_shared_experts_fusion": True}


def _check_quantization(view: ResolvedView, *accepted: str | None) -> None:
    assert view.quantization in accepted, f"{view.moe_runner_backend} has no experts in {view.quantization}"


def _check_expert_ranks(view: ResolvedView) -> None:
    assert view.ep_size in (1, view.tp_size), (
        f"{view.moe_runner_backend} splits experts over all {view.tp_size} ranks or none, not over {view.ep_size}"
    )


@post_process(writes=("moe_runner_backend",))
def _cutlass_moe_env_override(view: ResolvedView) -> Declaration:
    """SGLANG_CUTLASS_MOE asks for cutlass, which keeps all experts on every rank.

    Raises AssertionError for a quantization method or expert ranks that cutlass does not have.
    """
    runner = view.moe_runner_backend
    declared: Declaration = {}
    if envs.SGLANG_CUTLASS_MOE.get():
        assert view.quantization in ("fp8", "mxfp8"), "SGLANG_CUTLASS_MOE is for fp8 and mxfp8 experts alone"
        runner = declared["moe_runner_backend"] = "cutlass"
    if runner == "cutlass" and view.quantization in ("fp8", "mxfp8"):
        assert view.ep_size == 1, "cutlass keeps all experts on every rank: set ep_size to 1"
    return declared


@post_process(writes=("speculative_moe_runner_backend",))
def _speculative_moe_runner_default(view: ResolvedView) -> Declaration | None:
    """The experts of a draft model use the kernels of the main model unless the user chose others."""
    if view.speculative_moe_runner_backend is None:
        return {"speculative_moe_runner_backend": view.moe_runner_backend}
    return None
