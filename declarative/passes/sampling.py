"""The default of the sampling backend."""

from __future__ import annotations

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from harness.world.machine import is_flashinfer_available


@post_process(writes=("sampling_backend",))
def _sampling_backend_default(view: ResolvedView) -> Declaration | None:
    """flashinfer samples where it is installed, PyTorch elsewhere."""
    if view.sampling_backend is None:
        return {"sampling_backend": "flashinfer" if is_flashinfer_available() else "pytorch"}
    return None
