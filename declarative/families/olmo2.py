"""OLMo 2."""

from __future__ import annotations

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from declarative.facts import architecture_in
from harness.world.machine import get_device_sm, is_cuda, is_sm100_supported


@post_process(writes=("attention_backend",), when=architecture_in("Olmo2ForCausalLM"))
def _olmo2_overrides(view: ResolvedView) -> Declaration | None:
    """Fill in a backend that is quick at sliding windows. Raises AssertionError for flashinfer, which is not."""
    backend = view.attention_backend
    assert backend != "flashinfer", "flashinfer is too slow for OLMo's sliding windows"
    if backend is not None:
        return None
    if is_cuda() and is_sm100_supported():
        return {"attention_backend": "trtllm_mha"}
    return {"attention_backend": "fa3" if is_cuda() and get_device_sm() >= 80 else "triton"}
