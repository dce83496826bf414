"""Functions that several passes use to read the view."""

from __future__ import annotations

from declarative.engine.view import ResolvedView


def attention_backends_of(view: ResolvedView) -> tuple[str | None, str | None]:
    """Return the attention backends of prefill and of decode.

    A phase without a backend of its own has ``attention_backend``. An empty name counts as none.
    """
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
