"""LFM2, and the check that it shares with Nemotron-H."""

from __future__ import annotations

from declarative.engine.steps import Declaration, check, post_process
from declarative.engine.view import ResolvedView
from declarative.facts import architecture_in
from declarative.families.nemotron_h import NEMOTRON_H_ARCHITECTURES
from harness.world.machine import is_sm100_supported


@post_process(writes=("attention_backend",), when=architecture_in("Lfm2ForCausalLM"))
def _lfm2_overrides(view: ResolvedView) -> Declaration | None:
    """On SM100, the attention layers between the state layers run in flashinfer."""
    if view.attention_backend is None and is_sm100_supported():
        return {"attention_backend": "flashinfer"}
    return None


@check(when=architecture_in("Lfm2ForCausalLM", *NEMOTRON_H_ARCHITECTURES))
def _first_layer_validation(view: ResolvedView) -> None:
    """Raise AssertionError for triton, which looks for the KV cache at the first layer.

    It stands after the mamba cache: what that refuses is refused first.
    """
    architecture = view.model.architecture
    name = "Nemotron-H" if architecture in NEMOTRON_H_ARCHITECTURES else architecture
    assert view.attention_backend != "triton", (
        f"{name} cannot attend with triton: its first layer may be a state layer"
    )
