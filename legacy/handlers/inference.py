"""Slots 10 and 20: deterministic inference, and diffusion language models."""

from __future__ import annotations

from harness.world.choices import (
    DETERMINISTIC_ATTENTION_BACKEND_CHOICES,
    RADIX_SUPPORTED_DETERMINISTIC_ATTENTION_BACKEND,
)
from harness.world.cuda_graph import Backend
from harness.world.environ import envs
from harness.world.machine import current, is_hip, is_npu, is_sm100_supported, is_sm120_supported
from harness.world.modelfacts import INSTANCE, parse_connector_type
from legacy.record.record import Record

DEEPSEEK_ARCHITECTURES = (
    "DeepseekV2ForCausalLM",
    "DeepseekV3ForCausalLM",
    "DeepseekV32ForCausalLM",
    "MistralLarge3ForCausalLM",
    "PixtralForConditionalGeneration",
    "GlmMoeDsaForCausalLM",
)


class InferenceHandlers(Record):
    """Two special ways to run a model. Both overrule some choices of the user and of earlier handlers."""

    def _handle_deterministic_inference(self) -> None:
        if self.rl_on_policy_target is not None:
            self.enable_deterministic_inference = True
            envs.SGLANG_VLM_CACHE_SIZE_MB.set(0)
            envs.SGLANG_ENABLE_DETERMINISTIC_INFERENCE.set(True)
        if not self.enable_deterministic_inference:
            return

        self.enable_aiter_allreduce_fusion = False
        if self.flashinfer_allreduce_fusion_backend is not None:
            self.flashinfer_allreduce_fusion_backend = None
        if self.sampling_backend != "ascend":
            self.sampling_backend = "pytorch"

        is_deepseek_model = (
            parse_connector_type(self.model_path) != INSTANCE
            and self.get_model_config().hf_config.architectures[0] in DEEPSEEK_ARCHITECTURES
        )
        self._choose_deterministic_attention(is_deepseek_model)
        if self.attention_backend not in RADIX_SUPPORTED_DETERMINISTIC_ATTENTION_BACKEND:
            self.disable_radix_cache = True

        # ROCm's own all-reduce adds in a fixed order, so nothing has to change there.
        if self.tp_size > 1 and not is_hip():
            envs.NCCL_ALGO.set("allreduce:tree")
            self.disable_custom_all_reduce = True

    def _choose_deterministic_attention(self, is_deepseek_model: bool) -> None:
        if self.attention_backend is None:
            if is_sm100_supported() or is_sm120_supported():
                if is_deepseek_model:
                    self.attention_backend = "triton"
                else:
                    self.attention_backend = "flashinfer"
            else:
                self.attention_backend = "fa3"
        elif self.attention_backend not in DETERMINISTIC_ATTENTION_BACKEND_CHOICES:
            raise ValueError(
                f"{self.attention_backend} is not deterministic, only {DETERMINISTIC_ATTENTION_BACKEND_CHOICES} are"
            )
        if is_deepseek_model and self.attention_backend not in ("fa3", "triton"):
            raise ValueError(f"{self.attention_backend} is not deterministic for DeepSeek, only fa3 and triton are")

    def _handle_dllm_inference(self) -> None:
        if self.dllm_algorithm is None:
            return
        graphs = self.cuda_graph_config
        if is_hip():
            graphs.decode.backend = Backend.DISABLED
            graphs.prefill.backend = Backend.DISABLED
            if self.attention_backend not in ("triton", "aiter"):
                self.attention_backend = "triton"
        elif is_npu():
            if self.attention_backend != "ascend":
                self.attention_backend = "ascend"
        elif graphs.decode.backend != Backend.DISABLED and self.attention_backend != "flashinfer":
            self.attention_backend = "flashinfer"

        if not self.disable_overlap_schedule:
            self.disable_overlap_schedule = True
        if not self.disable_radix_cache:
            block_size = current().model.dllm_block_size
            # The page size is set: slot 13 gives it a default.
            if self.page_size % block_size != 0:  # type: ignore[operator]
                self.page_size = block_size
            self.enable_hierarchical_cache = False
            self.enable_lmcache = False
        if not self.pp_size > 1:
            self.pp_size = 1
        if self.enable_lora:
            self.enable_lora = False
        if self.disaggregation_mode != "null":
            self.disaggregation_mode = "null"
        if self.enable_mixed_chunk:
            self.enable_mixed_chunk = False
