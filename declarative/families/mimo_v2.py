"""MiMo V2."""

from __future__ import annotations

from typing import Final

from declarative.engine.steps import Declaration, check, provider
from declarative.engine.view import ReadOnlyView, ResolvedView
from declarative.inputs.facts import architecture_in
from declarative.inputs.model import ModelView
from harness.world.environ import envs
from harness.world.modelfacts import get_mimo_v2_fused_qkv_expected_tp_size

MIMO_V2_ARCHITECTURES: Final = ("MiMoV2ForCausalLM", "MiMoV2FlashForCausalLM")

is_mimo_v2 = architecture_in(*MIMO_V2_ARCHITECTURES)


@provider(writes=("enable_multi_layer_eagle",))
def _mimo_v2_overrides(arguments: ReadOnlyView, model: ModelView) -> Declaration | None:
    """MiMo V2's draft model has several layers."""
    return {"enable_multi_layer_eagle": True} if arguments.speculative_algorithm == "EAGLE" else None


@check(when=is_mimo_v2)
def _mimo_v2_validation(view: ResolvedView) -> None:
    """MiMo V2's fused weights fit one number of ranks, and its hierarchical cache needs the unified radix tree.

    Raises ValueError for another number or another tree, and ZeroDivisionError for no ranks at all.
    """
    if view.model.architecture == "MiMoV2ForCausalLM" and not view.encoder_only:
        expected = get_mimo_v2_fused_qkv_expected_tp_size(view.model.hf_config)
        attn_dp_size = view.dp_size if view.enable_dp_attention else 1
        # Computed first, as in the original: 0 ranks raise ZeroDivisionError even if no number is expected.
        ranks = view.tp_size // attn_dp_size // view.attn_cp_size
        if expected is not None and ranks != expected:
            raise ValueError(
                f"the fused QKV weights are laid out for {expected} attention ranks, and there are {ranks}: "
                "change tp_size, dp_size, enable_dp_attention or attn_cp_size"
            )
    if view.enable_hierarchical_cache and not envs.SGLANG_ENABLE_UNIFIED_RADIX_TREE.get():
        raise ValueError(
            "MiMo-V2 has a hierarchical cache with the unified radix tree alone: "
            "set SGLANG_ENABLE_UNIFIED_RADIX_TREE=1"
        )
