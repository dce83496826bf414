"""Slot 8: chooses the branch of the model's family, then applies the rules that concern several families."""

from __future__ import annotations

from harness.world.environ import envs
from harness.world.machine import is_hip, is_sm90_supported, is_sm100_supported
from harness.world.modelfacts import INSTANCE, parse_connector_type
from harness.world.modelview import HFConfig
from legacy.handlers.deepseek import DEEPSEEK_V3_ARCHITECTURES, DeepseekFamily
from legacy.handlers.hooks import apply_deepseek_v4_defaults, apply_nemotron_h_defaults
from legacy.handlers.hybrid import FALCON_JET_ARCHITECTURES, QWEN3_ARCHITECTURES, HybridFamilies
from legacy.handlers.transformers import (
    GEMMA4_ARCHITECTURES,
    GEMMA_ARCHITECTURES,
    LLAMA4_MODEL_ARCHS,
    MIMO_V2_MODEL_ARCHS,
    TransformerFamilies,
)

BFLOAT16_ARCHITECTURES = ("MistralLarge3ForCausalLM", "PixtralForConditionalGeneration")
PLAIN_MAMBA_ARCHITECTURES = ("KimiLinearForCausalLM", "BailingMoeV2_5ForCausalLM")
NEMOTRON_H_ARCHITECTURES = ("NemotronHForCausalLM", "NemotronHPuzzleForCausalLM")
ALLREDUCE_FUSION_ARCHITECTURES = (
    "DeepseekV3ForCausalLM",
    "DeepseekV32ForCausalLM",
    "GptOssForCausalLM",
    "GlmMoeDsaForCausalLM",
    "Glm4MoeForCausalLM",
    "Glm4MoeLiteForCausalLM",
    "MistralLarge3ForCausalLM",
    "Qwen3MoeForCausalLM",
    "Qwen3VLMoeForConditionalGeneration",
    "Qwen3NextForCausalLM",
    "KimiK25ForConditionalGeneration",
    "Qwen3_5MoeForConditionalGeneration",
    "InternS2PreviewForConditionalGeneration",
    "Qwen3_5ForConditionalGeneration",
    "NemotronHForCausalLM",
    "NemotronHPuzzleForCausalLM",
)


class ModelSpecificHandlers(DeepseekFamily, TransformerFamilies, HybridFamilies):
    """The original's one method of 800 lines, split up: the choice of the branch here, each branch in a method.

    0.5.14 also looks into a registry of linear attention models. Only plug-ins fill that registry, and a case has
    none, so it is not ported.
    """

    def _handle_model_specific_adjustments(self) -> None:
        self.uses_mamba_radix_cache = False
        # Weights from a running server come without a config that could be read.
        if parse_connector_type(self.model_path) == INSTANCE:
            return
        hf_config = self.get_model_config().hf_config
        model_arch: str = hf_config.architectures[0]

        if model_arch in BFLOAT16_ARCHITECTURES:
            self.dtype = "bfloat16"
        if model_arch == "DeepseekV4ForCausalLM":
            apply_deepseek_v4_defaults(self, model_arch)
        self._adjust_family(model_arch, hf_config)
        self._adjust_across_families(model_arch)

    def _adjust_family(self, model_arch: str, hf_config: HFConfig) -> None:
        """Run the first branch that the model's architecture matches; for any other architecture do nothing."""
        if model_arch in DEEPSEEK_V3_ARCHITECTURES:
            self._adjust_deepseek(model_arch, hf_config)
        elif model_arch == "DeepseekV4ForCausalLM":
            self._adjust_deepseek_v4()
        elif model_arch == "GptOssForCausalLM":
            self._adjust_gpt_oss(hf_config)
        elif model_arch in MIMO_V2_MODEL_ARCHS:
            self._adjust_mimo_v2(model_arch, hf_config)
        # The original also looks for these two inside longer names, such as that of the draft model.
        elif "Step3p5ForCausalLM" in model_arch or "Step3p7ForConditionalGeneration" in model_arch:
            self._adjust_step3p()
        elif model_arch in LLAMA4_MODEL_ARCHS and self.device != "cpu":
            self._adjust_llama4()
        elif model_arch in GEMMA_ARCHITECTURES:
            self._adjust_gemma()
        elif model_arch in GEMMA4_ARCHITECTURES:
            self._adjust_gemma4()
        elif model_arch == "MossVLForConditionalGeneration":
            self._adjust_moss_vl()
        elif model_arch in ("Exaone4ForCausalLM", "ExaoneMoEForCausalLM"):
            self._adjust_exaone(hf_config)
        elif model_arch == "Olmo2ForCausalLM":
            self._adjust_olmo()
        elif model_arch in PLAIN_MAMBA_ARCHITECTURES:
            self._handle_mamba_radix_cache(model_arch=model_arch)
        elif model_arch in NEMOTRON_H_ARCHITECTURES:
            apply_nemotron_h_defaults(self, model_arch)
        elif model_arch in QWEN3_ARCHITECTURES:
            self._adjust_qwen3(model_arch, hf_config)
        elif model_arch == "MiniCPMV4_6ForConditionalGeneration":
            self._adjust_minicpm_v(model_arch)
        elif model_arch == "Glm4MoeForCausalLM":
            self._adjust_glm4_moe(hf_config)
        elif model_arch in FALCON_JET_ARCHITECTURES:
            self._adjust_falcon_jet(model_arch)
        elif model_arch == "GraniteMoeHybridForCausalLM":
            self._adjust_granite(model_arch, hf_config)
        elif model_arch == "Lfm2ForCausalLM":
            self._adjust_lfm2(model_arch)
        elif model_arch == "ZayaForCausalLM":
            self._handle_mamba_radix_cache(model_arch=model_arch)
        elif model_arch == "MiniMaxM2ForCausalLM":
            self._adjust_minimax_m2()

    def _adjust_across_families(self, model_arch: str) -> None:
        if (
            model_arch == "Qwen3VLForConditionalGeneration"
            and is_hip()
            and envs.SGLANG_USE_AITER_UNIFIED_ATTN.get()
            and self.page_size is None
        ):
            self.page_size = 16
        if envs.SGLANG_EMBEDDINGS_SPARSE_HEAD.is_set():
            self.disable_overlap_schedule = True
        if (
            self.flashinfer_allreduce_fusion_backend is None
            and model_arch in ALLREDUCE_FUSION_ARCHITECTURES
            and (is_sm90_supported() or is_sm100_supported())
            and self.tp_size > 1
            and not self.enable_dp_attention
            and (self.nnodes == 1 or is_sm100_supported())
            and self.moe_a2a_backend == "none"
        ):
            self.flashinfer_allreduce_fusion_backend = "auto"
        if self.enforce_disable_flashinfer_allreduce_fusion:
            self.flashinfer_allreduce_fusion_backend = None
