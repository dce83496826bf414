"""Passes over the backend through which experts exchange tokens, and over what each backend implies."""

from __future__ import annotations

from typing import Final

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.state import GRAPHS
from harness.world.cuda_graph import Backend
from harness.world.environ import envs

_OVER_ALL_RANKS: Final = ("megamoe", "deepep", "mooncake", "nixl", "ascend_fuseep", "flashinfer", "mori")


@post_process(writes=("moe_a2a_backend",))
def _a2a_backend_overrides(view: ResolvedView) -> Declaration | None:
    """Waterfill runs over DeepEP alone, and SGLANG_OPT_USE_DEEPGEMM_MEGA_MOE asks for megamoe whatever was chosen."""
    backend = given = view.moe_a2a_backend
    if view.enable_deepep_waterfill:
        backend = "deepep"
    if envs.SGLANG_OPT_USE_DEEPGEMM_MEGA_MOE.get():
        backend = "megamoe"
    return None if backend == given else {"moe_a2a_backend": backend}


@post_process(writes=("ep_size",))
def _a2a_ep_size(view: ResolvedView) -> Declaration | None:
    """Each of these exchanges spreads the experts over all tensor parallel ranks.

    Raises AssertionError for flashinfer's exchange without data parallel attention over all ranks.
    """
    backend = view.moe_a2a_backend
    if backend not in _OVER_ALL_RANKS:
        return None
    if backend == "flashinfer":
        assert view.enable_dp_attention and view.dp_size == view.tp_size, (
            "flashinfer exchanges tokens between data parallel ranks: enable dp attention, dp_size as tp_size"
        )
    return {"ep_size": view.tp_size}


@post_process(
    writes=("disable_shared_experts_fusion",),
    state=(*GRAPHS, "enforce_shared_experts_fusion"),
    env=("SGLANG_OPT_FIX_MEGA_MOE_MEMORY", "SGLANG_MOE_NVFP4_DISPATCH"),
)
def _a2a_fusion_adjustments(view: ResolvedView) -> Declaration:
    """megamoe, deepep and flashinfer need other buffers, graphs and shared experts than the other exchanges."""
    backend = view.moe_a2a_backend
    declared: Declaration = {}
    if backend == "megamoe":
        if not envs.SGLANG_OPT_FIX_MEGA_MOE_MEMORY.is_set():
            declared["SGLANG_OPT_FIX_MEGA_MOE_MEMORY"] = True
    elif backend == "deepep":
        if view.deepep_mode == "normal":
            declared |= dict.fromkeys(GRAPHS, Backend.DISABLED)
        if view.enable_deepep_waterfill:
            if view.disable_shared_experts_fusion:
                declared["disable_shared_experts_fusion"] = False
            declared["enforce_shared_experts_fusion"] = True
    elif backend == "flashinfer":
        declared["disable_shared_experts_fusion"] = True
        if not envs.SGLANG_MOE_NVFP4_DISPATCH.is_set():
            declared["SGLANG_MOE_NVFP4_DISPATCH"] = True
    return declared


@post_process(state=("deepep_mode",))
def _a2a_mode_and_checks(view: ResolvedView) -> Declaration | None:
    """flashinfer, ascend_fuseep and mori work with few kernels, modes and sizes, and mori has one mode.

    Raises ValueError and AssertionError for kernels, modes and sizes that do not fit. Raises TypeError if the user
    gave None as mori's chunk size, because the original does.
    """
    backend = view.moe_a2a_backend
    if backend == "flashinfer":
        assert view.moe_runner_backend in ("flashinfer_cutlass", "flashinfer_cutedsl"), (
            f"flashinfer cannot hand tokens to {view.moe_runner_backend}"
        )
    elif backend == "ascend_fuseep":
        _check_npu_fused_moe(view)
    elif backend == "mori":
        _check_mori(view)
        if view.deepep_mode == "auto":
            return {"deepep_mode": "normal"}
    return None


def _check_npu_fused_moe(view: ResolvedView) -> None:
    mode = envs.SGLANG_NPU_FUSED_MOE_MODE.get()
    if mode not in (1, 2):
        raise ValueError(f"SGLANG_NPU_FUSED_MOE_MODE is 1 or 2, not {mode}")
    if mode == 2:
        assert view.quantization == "modelslim", "SGLANG_NPU_FUSED_MOE_MODE=2 is for modelslim alone"


def _check_mori(view: ResolvedView) -> None:
    chunk = view.chunked_prefill_size
    if chunk > 0 and view.disaggregation_mode != "decode":
        limit = envs.SGLANG_MORI_NUM_MAX_DISPATCH_TOKENS_PER_RANK.get()
        assert chunk <= limit, (
            f"a prefill chunk of {chunk} tokens exceeds SGLANG_MORI_NUM_MAX_DISPATCH_TOKENS_PER_RANK ({limit})"
        )
