"""Granite 4, where it has state layers."""

from __future__ import annotations

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from declarative.facts import architecture_in
from harness.world.machine import is_sm100_supported


@post_process(writes=("attention_backend",), when=architecture_in("GraniteMoeHybridForCausalLM"))
def _granite_moe_hybrid_overrides(view: ResolvedView) -> Declaration | None:
    """On SM100, the attention layers between the state layers run in flashinfer."""
    if "mamba" in view.model.hf_config.layer_types and view.attention_backend is None and is_sm100_supported():
        return {"attention_backend": "flashinfer"}
    return None
