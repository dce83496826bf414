"""Passes over data and pipeline parallelism: what follows from the numbers of ranks."""

from __future__ import annotations

from declarative.engine.steps import Declaration, check, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.facts import splits_data


@post_process(writes=("enable_dp_attention", "enable_dp_lm_head"))
def _data_parallelism_defaults(view: ResolvedView) -> Declaration | None:
    """With one data parallel rank there is nothing to split."""
    if view.dp_size == 1 and (view.enable_dp_attention or view.enable_dp_lm_head):
        return {"enable_dp_attention": False, "enable_dp_lm_head": False}
    return None


@post_process(state=("schedule_conservativeness", "chunked_prefill_size"), when=splits_data)
def _dp_attention_scaling(view: ResolvedView) -> Declaration | None:
    """Each data parallel rank gets its part of a prefill chunk, and can admit requests more boldly.

    Raises AssertionError if the data parallel ranks do not divide the tensor parallel ones. Raises TypeError if the
    user gave None as the chunk size, because the original does.
    """
    if not view.enable_dp_attention:
        return None
    assert view.tp_size % view.dp_size == 0, (
        f"attention over {view.dp_size} data parallel ranks does not divide {view.tp_size} ranks"
    )
    return {
        "schedule_conservativeness": view.schedule_conservativeness * 0.3,
        "chunked_prefill_size": view.chunked_prefill_size // view.dp_size,
    }


@check(when=splits_data)
def _dp_lm_head_validation(view: ResolvedView) -> None:
    """The output head can be split over attention groups only if the attention is.

    Raises AssertionError otherwise.
    """
    if view.enable_dp_lm_head:
        assert view.enable_dp_attention, "enable_dp_lm_head needs enable_dp_attention"


@post_process(writes=("disable_overlap_schedule",))
def _pipeline_parallel_overlap_disable(view: ResolvedView) -> Declaration | None:
    """Pipeline stages wait for one another, so scheduling cannot overlap with the model."""
    return {"disable_overlap_schedule": True} if view.pp_size > 1 else None
