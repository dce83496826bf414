"""The pass over overlapped scheduling that fits into no other module."""

from __future__ import annotations

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.facts import has_model
from harness.world.environ import envs


@post_process(writes=("disable_overlap_schedule",), when=has_model)
def _sparse_head_overlap_disable(view: ResolvedView) -> Declaration | None:
    """A sparse embedding head needs each batch's result before the next batch starts."""
    return {"disable_overlap_schedule": True} if envs.SGLANG_EMBEDDINGS_SPARSE_HEAD.is_set() else None
