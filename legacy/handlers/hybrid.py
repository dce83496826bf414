"""Families with state layers, and Qwen3 MoE, which shares a branch with some of them.

Most branches end by resolving the prefix cache, which must also keep the states (`legacy.handlers.mamba`).
"""

from __future__ import annotations

from harness.world.machine import is_sm100_supported
from harness.world.modelfacts import get_quantization_config
from harness.world.modelview import HFConfig
from legacy.handlers.attention import AttentionHandlers
from legacy.handlers.mamba import MambaHandlers

QWEN3_HYBRID_ARCHITECTURES = (
    "Qwen3NextForCausalLM",
    "Qwen3_5MoeForConditionalGeneration",
    "InternS2PreviewForConditionalGeneration",
    "Qwen3_5ForConditionalGeneration",
)
QWEN3_ARCHITECTURES = (
    "Qwen3MoeForCausalLM",
    "Qwen3VLMoeForConditionalGeneration",
    *QWEN3_HYBRID_ARCHITECTURES,
)
FALCON_JET_ARCHITECTURES = ("FalconH1ForCausalLM", "JetNemotronForCausalLM", "JetVLMForConditionalGeneration")


class HybridFamilies(MambaHandlers, AttentionHandlers):
    """One method for each family's branch, in the original's order."""

    def _adjust_qwen3(self, model_arch: str, hf_config: HFConfig) -> None:
        if is_sm100_supported():
            self._choose_qwen3_experts(hf_config)
        if model_arch in QWEN3_HYBRID_ARCHITECTURES:
            if is_sm100_supported():
                self._choose_qwen3_hybrid_attention()
            self._handle_mamba_radix_cache(model_arch=model_arch)

    def _choose_qwen3_experts(self, hf_config: HFConfig) -> None:
        quant_method = get_quantization_config(hf_config)
        if self.quantization is None and not self._quantization_explicitly_unset and quant_method is not None:
            self.quantization = quant_method
        if (
            (self.quantization in ("fp8", "modelopt_fp4") or self.quantization is None)
            and self.moe_a2a_backend == "none"
            and self.moe_runner_backend == "auto"
        ):
            self.moe_runner_backend = "flashinfer_trtllm"

    def _choose_qwen3_hybrid_attention(self) -> None:
        """Choose trtllm_mha if it is the default and the states do not force pages of one token, else triton."""
        default = self._get_default_attn_backend(self.use_mla_backend(), self.get_model_config())
        forces_single_tokens = (
            not self.enable_mamba_extra_buffer()
            and not self.disable_radix_cache
            and self.speculative_algorithm is None
        )
        backend = "trtllm_mha" if default == "trtllm_mha" and not forces_single_tokens else "triton"
        if self.attention_backend is None:
            self.attention_backend = backend
            self.page_size = 64 if backend == "trtllm_mha" else 1

    def _adjust_minicpm_v(self, model_arch: str) -> None:
        if is_sm100_supported() and self.attention_backend is None:
            self.attention_backend = "triton"
        self._handle_mamba_radix_cache(model_arch=model_arch)

    def _adjust_falcon_jet(self, model_arch: str) -> None:
        if is_sm100_supported() and self.attention_backend is None:
            self.attention_backend = "triton"
        self._handle_mamba_radix_cache(model_arch=model_arch)

    def _adjust_granite(self, model_arch: str, hf_config: HFConfig) -> None:
        if "mamba" in hf_config.layer_types:
            if is_sm100_supported() and self.attention_backend is None:
                self.attention_backend = "flashinfer"
            self._handle_mamba_radix_cache(model_arch=model_arch)

    def _adjust_lfm2(self, model_arch: str) -> None:
        if is_sm100_supported() and self.attention_backend is None:
            self.attention_backend = "flashinfer"
        self._handle_mamba_radix_cache(model_arch=model_arch)
        assert self.attention_backend != "triton", (
            f"{model_arch} cannot attend with triton: its first layer may be a state layer"
        )
