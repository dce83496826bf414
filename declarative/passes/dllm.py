"""Diffusion language models."""

from __future__ import annotations

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.facts import is_diffusion
from declarative.inputs.state import GRAPHS
from harness.world.cuda_graph import Backend
from harness.world.machine import current, is_hip, is_npu


@post_process(writes=("attention_backend",), state=GRAPHS, when=is_diffusion)
def _dllm_attention_backend(view: ResolvedView) -> Declaration | None:
    """Diffusion models run on one backend a platform; on CUDA only captured graphs need flashinfer."""
    backend = view.attention_backend
    if is_hip():
        declared: Declaration = dict.fromkeys(GRAPHS, Backend.DISABLED)
        if backend not in ("triton", "aiter"):
            declared["attention_backend"] = "triton"
        return declared
    if is_npu():
        wanted = "ascend"
    elif view.cuda_graph_config.decode.backend != Backend.DISABLED:
        wanted = "flashinfer"
    else:
        return None
    return None if backend == wanted else {"attention_backend": wanted}


@post_process(writes=("disable_overlap_schedule",), when=is_diffusion)
def _dllm_overlap_disable(view: ResolvedView) -> Declaration | None:
    """A diffusion model denoises its blocks in turn, so the scheduler cannot run ahead."""
    return None if view.disable_overlap_schedule else {"disable_overlap_schedule": True}


@post_process(writes=("page_size",), state=("enable_hierarchical_cache", "enable_lmcache"), when=is_diffusion)
def _dllm_page_size(view: ResolvedView) -> Declaration | None:
    """A cached prefix must end where a block ends, and must stay on the device."""
    if view.disable_radix_cache:
        return None
    declared: Declaration = {"enable_hierarchical_cache": False, "enable_lmcache": False}
    block_size = current().model.dllm_block_size
    if view.page_size % block_size != 0:
        declared["page_size"] = block_size
    return declared


@post_process(state=("pp_size", "enable_lora", "disaggregation_mode", "enable_mixed_chunk"), when=is_diffusion)
def _dllm_feature_disable(view: ResolvedView) -> Declaration:
    """Diffusion models have no pipeline ranks, LoRA adapters, disaggregation or mixed chunks."""
    declared: Declaration = {}
    if not view.pp_size > 1:
        declared["pp_size"] = 1
    if view.enable_lora:
        declared["enable_lora"] = False
    if view.disaggregation_mode != "null":
        declared["disaggregation_mode"] = "null"
    if view.enable_mixed_chunk:
        declared["enable_mixed_chunk"] = False
    return declared
