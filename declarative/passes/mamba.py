"""The prefix cache of models with state layers: the strategy that keeps their states, and what it requires."""

from __future__ import annotations

from typing import Final

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.facts import architecture_in
from harness.world.machine import is_cuda, is_musa, is_npu

FLA_CHUNK_SIZE: Final = 64
"""Tokens of a chunk of the linear attention kernels (``layers/attention/fla/chunk_delta_h.py`` in 0.5.14)."""

GRANITE: Final = "GraniteMoeHybridForCausalLM"

STATE_LAYER_ARCHITECTURES: Final = (
    "KimiLinearForCausalLM",
    "BailingMoeV2_5ForCausalLM",
    "NemotronHForCausalLM",
    "NemotronHPuzzleForCausalLM",
    "Qwen3NextForCausalLM",
    "Qwen3_5MoeForConditionalGeneration",
    "InternS2PreviewForConditionalGeneration",
    "Qwen3_5ForConditionalGeneration",
    "MiniCPMV4_6ForConditionalGeneration",
    "FalconH1ForCausalLM",
    "JetNemotronForCausalLM",
    "JetVLMForConditionalGeneration",
    GRANITE,
    "Lfm2ForCausalLM",
    "ZayaForCausalLM",
)

EXTRA_BUFFER_ARCHITECTURES: Final = (
    "Qwen3_5ForConditionalGeneration",
    "Qwen3_5MoeForConditionalGeneration",
    "Qwen3NextForCausalLM",
    "InternS2PreviewForConditionalGeneration",
    "MiniCPMV4_6ForConditionalGeneration",
    "BailingMoeV2_5ForCausalLM",
    "FalconH1ForCausalLM",
    "GraniteMoeHybridForCausalLM",
    "NemotronHForCausalLM",
    "NemotronHPuzzleForCausalLM",
)
_EXTRA_BUFFER: Final = ("extra_buffer", "extra_buffer_lazy")


def mamba_extra_buffer_of(view: ResolvedView) -> bool:
    """Return whether the prefix cache keeps the state layers' states in extra buffers, eagerly or lazily."""
    return view.disable_radix_cache is False and view.mamba_radix_cache_strategy in _EXTRA_BUFFER


def supports_mamba_cache_extra_buffer(view: ResolvedView) -> bool:
    """Return whether extra buffers can keep the states: it depends on the architecture and on the layers' kernels."""
    return view.model.architecture in EXTRA_BUFFER_ARCHITECTURES and view.linear_attn_backend == "triton"


@post_process(
    writes=("uses_mamba_radix_cache", "mamba_radix_cache_strategy", "disable_overlap_schedule"),
    when=architecture_in(*STATE_LAYER_ARCHITECTURES),
)
def _mamba_radix_cache_resolution(view: ResolvedView) -> Declaration | None:
    """The prefix cache must also keep the states of state layers, and each way to do so has its own limits.

    The pass reads page size, overlap and attention backend as the model's family left them. Raises AssertionError for
    a setting that the strategy does not allow.
    """
    if view.disable_radix_cache:
        return None
    if view.model.architecture == GRANITE and "mamba" not in view.model.hf_config.layer_types:
        return None
    declared: Declaration = {"uses_mamba_radix_cache": True}
    strategy = view.mamba_radix_cache_strategy
    disables_overlap = view.disable_overlap_schedule
    if strategy == "auto":
        wants_paging = view.page_size is not None and view.page_size > 1
        if (not disables_overlap or wants_paging) and supports_mamba_cache_extra_buffer(view):
            strategy = "extra_buffer"
        else:
            strategy = "no_buffer"
            disables_overlap = declared["disable_overlap_schedule"] = True
        declared["mamba_radix_cache_strategy"] = strategy

    if strategy in _EXTRA_BUFFER:
        _check_extra_buffer(view, is_lazy=strategy == "extra_buffer_lazy")
    else:
        _check_no_buffer(view, disables_overlap)
    return declared


def _check_no_buffer(view: ResolvedView, disables_overlap: bool) -> None:
    assert view.page_size in (1, None), f"no_buffer keeps states token by token: page size 1, not {view.page_size}"
    assert disables_overlap, "no_buffer cannot overlap scheduling: set disable_overlap_schedule"
    assert view.attention_backend != "trtllm_mha", "no_buffer does not go with trtllm_mha"


def _check_extra_buffer(view: ResolvedView, *, is_lazy: bool) -> None:
    assert supports_mamba_cache_extra_buffer(view), (
        f"{view.model.architecture} with {view.linear_attn_backend} kernels has no extra_buffer, only no_buffer"
    )
    assert is_cuda() or is_musa() or is_npu(), "extra_buffer runs on CUDA, MUSA and NPU alone"
    draft_tokens = view.speculative_num_draft_tokens
    if draft_tokens is not None:
        assert not is_lazy, "extra_buffer_lazy cannot speculate"
        assert view.mamba_track_interval >= draft_tokens, (
            "a state is saved within a draft: raise mamba_track_interval to the draft's length"
        )
    if view.page_size is not None:
        assert view.mamba_track_interval % view.page_size == 0, "states must be saved at the end of a page"
        _check_chunk(view)


def _check_chunk(view: ResolvedView) -> None:
    chunk_size: int = getattr(view.model.hf_config, "mamba_chunk_size", FLA_CHUNK_SIZE)
    larger, smaller = max(chunk_size, view.page_size), min(chunk_size, view.page_size)
    assert larger % smaller == 0, (
        f"a state layer's chunk ({chunk_size} tokens) and the page ({view.page_size}) must divide one another"
    )
