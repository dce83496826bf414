"""Fused all-reduce: its old flag, the models that get it by default, and what forbids it."""

from __future__ import annotations

from typing import Final

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.facts import architecture_in, has_model, is_deterministic
from harness.world.machine import is_sm90_supported, is_sm100_supported

ALLREDUCE_FUSION_ARCHITECTURES: Final = (
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


@post_process(writes=("flashinfer_allreduce_fusion_backend",))
def _flashinfer_allreduce_fusion_alias(view: ResolvedView) -> Declaration | None:
    """The earlier flag, true or false, means the backend "auto" today."""
    if view.enable_flashinfer_allreduce_fusion and view.flashinfer_allreduce_fusion_backend is None:
        return {"flashinfer_allreduce_fusion_backend": "auto"}
    return None


@post_process(state=("enforce_disable_flashinfer_allreduce_fusion",), when=is_deterministic)
def _deterministic_fusion_opt_out(view: ResolvedView) -> Declaration | None:
    """A fused all-reduce is not deterministic, so a model's defaults must not turn it on later.

    Only the user's own flag counts here. A training target implies determinism too, but a later pass
    (`_on_policy_determinism`) declares that, as in the original.
    """
    if view.enable_deterministic_inference:
        return {"enforce_disable_flashinfer_allreduce_fusion": True}
    return None


@post_process(writes=("flashinfer_allreduce_fusion_backend",), when=architecture_in(*ALLREDUCE_FUSION_ARCHITECTURES))
def _flashinfer_allreduce_fusion_auto_enable(view: ResolvedView) -> Declaration | None:
    """These architectures gain from fused all-reduce on SM90 and SM100 if their ranks exchange tokens in no other
    way.
    """
    if (
        view.flashinfer_allreduce_fusion_backend is None
        and view.tp_size > 1
        and not view.enable_dp_attention
        and view.moe_a2a_backend == "none"
        and ((view.nnodes == 1 and is_sm90_supported()) or is_sm100_supported())
    ):
        return {"flashinfer_allreduce_fusion_backend": "auto"}
    return None


@post_process(writes=("flashinfer_allreduce_fusion_backend",), when=has_model)
def _enforce_disable_allreduce_fusion(view: ResolvedView) -> Declaration | None:
    """The user, or determinism, has forbidden the fusion, so a model's defaults do not count."""
    if view.enforce_disable_flashinfer_allreduce_fusion:
        return {"flashinfer_allreduce_fusion_backend": None}
    return None
