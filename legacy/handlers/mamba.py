"""The prefix cache of models with state layers: the strategy that keeps their states, and what it requires."""

from __future__ import annotations

from harness.world.machine import is_cuda, is_musa, is_npu
from legacy.record.record import Record

EXTRA_BUFFER_ARCHITECTURES = (
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


class MambaHandlers(Record):
    """Many branches of the model-specific handler call this; it sees the fields as they are at that moment."""

    def _support_mamba_cache_extra_buffer(self, model_arch: str) -> bool:
        return model_arch in EXTRA_BUFFER_ARCHITECTURES and self.linear_attn_backend == "triton"

    def _validate_mamba_no_buffer(self, model_arch: str) -> None:
        assert self.page_size in (1, None), (
            f"no_buffer keeps states token by token: page size 1, not {self.page_size}"
        )
        assert self.disable_overlap_schedule, "no_buffer cannot overlap scheduling: set disable_overlap_schedule"
        assert self.attention_backend != "trtllm_mha", "no_buffer does not go with trtllm_mha"

    def _validate_mamba_extra_buffer(self, model_arch: str) -> None:
        assert self._support_mamba_cache_extra_buffer(model_arch), (
            f"{model_arch} with {self.linear_attn_backend} kernels has no extra_buffer, only no_buffer"
        )
        assert is_cuda() or is_musa() or is_npu(), "extra_buffer runs on CUDA, MUSA and NPU alone"
        if self.speculative_num_draft_tokens is not None:
            assert not self.enable_mamba_extra_buffer_lazy(), "extra_buffer_lazy cannot speculate"
            assert self.mamba_track_interval >= self.speculative_num_draft_tokens, (
                "a state is saved within a draft: raise mamba_track_interval to the draft's length"
            )
        if self.page_size is not None:
            assert self.mamba_track_interval % self.page_size == 0, "states must be saved at the end of a page"
            # Reading this property runs the check in it.
            assert self.mamba_cache_chunk_size is not None  # never false: the property is always a number

    def _handle_mamba_radix_cache(self, model_arch: str) -> None:
        if self.disable_radix_cache:
            return
        self.uses_mamba_radix_cache = True
        if self.mamba_radix_cache_strategy == "auto":
            wants_overlap = not self.disable_overlap_schedule
            wants_paging = self.page_size is not None and self.page_size > 1
            if (wants_overlap or wants_paging) and self._support_mamba_cache_extra_buffer(model_arch):
                self.mamba_radix_cache_strategy = "extra_buffer"
            else:
                self.mamba_radix_cache_strategy = "no_buffer"
                self.disable_overlap_schedule = True

        if self.enable_mamba_extra_buffer():
            self._validate_mamba_extra_buffer(model_arch)
        else:
            self._validate_mamba_no_buffer(model_arch)
