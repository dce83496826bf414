"""EXAONE 4 and EXAONE MoE, where they have sliding windows."""

from __future__ import annotations

from typing import Final

from declarative.engine.steps import Declaration, check, provider
from declarative.engine.view import ReadOnlyView, ResolvedView
from declarative.facts import architecture_in
from declarative.model import Model

EXAONE_ARCHITECTURES: Final = ("Exaone4ForCausalLM", "ExaoneMoEForCausalLM")


@provider(writes=("disable_hybrid_swa_memory",))
def _exaone_overrides(arguments: ReadOnlyView, model: Model) -> Declaration | None:
    """One memory pool for all layers."""
    return None if model.hf_config.sliding_window_pattern is None else {"disable_hybrid_swa_memory": True}


@check(when=architecture_in(*EXAONE_ARCHITECTURES))
def _exaone_validation(view: ResolvedView) -> None:
    """Raise AssertionError for a backend without sliding windows; the user has to name one that has them."""
    if view.model.hf_config.sliding_window_pattern is not None:
        accepted = ("fa3", "triton", "trtllm_mha")
        assert view.attention_backend in accepted, (
            f"EXAONE's sliding windows need one of {accepted}, not {view.attention_backend}"
        )
