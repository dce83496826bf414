"""MiniMax M2."""

from __future__ import annotations

from declarative.engine.steps import Declaration, provider
from declarative.engine.view import ReadOnlyView
from declarative.inputs.model import ModelView


@provider(writes=("enable_tf32_matmul",))
def _minimax_m2_overrides(arguments: ReadOnlyView, model: ModelView) -> Declaration:
    """The gates of MiniMax M2 are float32 matrix products, which TF32 speeds up."""
    return {"enable_tf32_matmul": True}
