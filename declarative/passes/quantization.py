"""The first and the last pass over the quantization method: the user's opt-out, and GGUF files."""

from __future__ import annotations

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from harness.world.machine import check_gguf_file


@post_process(writes=("quantization",), state=("_quantization_explicitly_unset",))
def _quantization_opt_out(view: ResolvedView) -> Declaration | None:
    """ "unquant" means no quantization at all, and None alone would let a checkpoint's own method in again."""
    if view.quantization == "unquant":
        return {"quantization": None, "_quantization_explicitly_unset": True}
    return None


@post_process(writes=("quantization",), state=("load_format",))
def _gguf_quantization(view: ResolvedView) -> Declaration | None:
    """A GGUF file holds its own quantization, so any other choice cannot load it."""
    if view.load_format in ("auto", "gguf") and check_gguf_file(view.model_path):
        return {"quantization": "gguf", "load_format": "gguf"}
    return None
