"""MiniMax M2."""

from __future__ import annotations

from declarative.engine.steps import Declaration, provider
from declarative.engine.view import ReadOnlyView
from declarative.inputs.model import Model


@provider(writes=("enable_tf32_matmul",))
def _minimax_m2_overrides(arguments: ReadOnlyView, model: Model) -> Declaration:
    """Its gates are float32 matrix products, and may use TF32."""
    return {"enable_tf32_matmul": True}
