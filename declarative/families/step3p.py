"""Step-3.5 and Step-3.7: every architecture whose name contains one of theirs."""

from __future__ import annotations

from declarative.engine.steps import Declaration, post_process, provider
from declarative.engine.view import ReadOnlyView, ResolvedView
from declarative.facts import Facts
from declarative.model import Model
from declarative.reading import is_attention_backend_not_set
from harness.world.machine import is_blackwell_supported, is_sm90_supported


def is_step3p_name(architecture: str) -> bool:
    """Return whether ``architecture`` contains one of the two names."""
    return "Step3p5ForCausalLM" in architecture or "Step3p7ForConditionalGeneration" in architecture


def is_step3p(facts: Facts) -> bool:
    """Whether the model is of the family."""
    return facts.architecture is not None and is_step3p_name(facts.architecture)


@provider(writes=("enable_multi_layer_eagle", "swa_full_tokens_ratio", "disable_hybrid_swa_memory"))
def _step3p_overrides(arguments: ReadOnlyView, model: Model) -> Declaration:
    """Its draft has several layers; a hierarchical cache has one pool for all layers."""
    declared: Declaration = {}
    if arguments.speculative_algorithm == "EAGLE":
        declared["enable_multi_layer_eagle"] = True
    if arguments.enable_hierarchical_cache:
        declared |= {"swa_full_tokens_ratio": 1.0, "disable_hybrid_swa_memory": True}
    return declared


@post_process(writes=("attention_backend",), when=is_step3p)
def _step3p_attention_backend(view: ResolvedView) -> Declaration | None:
    """FlashAttention of the machine's generation; a platform's own default counts as chosen."""
    if not is_attention_backend_not_set(view):
        return None
    if is_blackwell_supported():
        return {"attention_backend": "fa4"}
    return {"attention_backend": "fa3"} if is_sm90_supported() else None
