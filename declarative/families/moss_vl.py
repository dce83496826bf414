"""Moss-VL."""

from __future__ import annotations

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.facts import architecture_in
from declarative.inputs.reading import attention_backends_of, is_attention_backend_not_set


@post_process(writes=("prefill_attention_backend",), when=architecture_in("MossVLForConditionalGeneration"))
def _moss_vl_overrides(view: ResolvedView) -> Declaration | None:
    """Only flashinfer can prefill Moss-VL's masked cross attention.

    Raises AssertionError for another prefill backend.
    """
    if is_attention_backend_not_set(view):
        return {"prefill_attention_backend": "flashinfer"}
    prefill_backend, _ = attention_backends_of(view)
    assert prefill_backend == "flashinfer", "Moss-VL masks its cross attention, and flashinfer alone prefills that"
    return None
