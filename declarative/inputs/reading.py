"""Questions about the view that several passes ask."""

from __future__ import annotations

from declarative.engine.view import ResolvedView


def attention_backends_of(view: ResolvedView) -> tuple[str | None, str | None]:
    """Return the kernels that prefill and decode would run; an empty name counts as none."""
    return (
        view.prefill_attention_backend or view.attention_backend,
        view.decode_attention_backend or view.attention_backend,
    )


def is_attention_backend_not_set(view: ResolvedView) -> bool:
    """Return whether none of the three backend fields is set."""
    return (
        view.attention_backend is None
        and view.prefill_attention_backend is None
        and view.decode_attention_backend is None
    )
