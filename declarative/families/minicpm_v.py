"""MiniCPM-V 4.6."""

from __future__ import annotations

from typing import Final

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from declarative.facts import architecture_in
from harness.world.machine import is_sm100_supported

MINICPM_V_ARCHITECTURES: Final = ("MiniCPMV4_6ForConditionalGeneration",)


@post_process(writes=("attention_backend",), when=architecture_in(*MINICPM_V_ARCHITECTURES))
def _minicpm_v4_6_overrides(view: ResolvedView) -> Declaration | None:
    """On SM100, the attention layers between the state layers run in triton."""
    if view.attention_backend is None and is_sm100_supported():
        return {"attention_backend": "triton"}
    return None
