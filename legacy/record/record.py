"""What handlers compute from the fields without changing them: model, effective backends, mamba strategy."""

from __future__ import annotations

from harness.world.machine import current
from harness.world.modelview import AttentionArch, ModelConfig
from legacy.record.arguments import Arguments

FLA_CHUNK_SIZE = 64
"""Tokens of a chunk of the linear attention kernels (``layers/attention/fla/chunk_delta_h.py`` in 0.5.14)."""


class Record(Arguments):
    """The arguments, with methods that read them and assign nothing."""

    def get_model_config(self) -> ModelConfig:
        """Return what is derived from the checkpoint of the current case, whatever the model path is."""
        return current().model_config

    def get_attention_backends(self) -> tuple[str | None, str | None]:
        """Return the attention backends of prefill and of decode.

        A phase without a backend of its own has ``attention_backend``. An empty name counts as none.
        """
        return (
            self.prefill_attention_backend or self.attention_backend,
            self.decode_attention_backend or self.attention_backend,
        )

    def use_mla_backend(self) -> bool:
        """Return whether the model has multi-head latent attention."""
        return self.get_model_config().attention_arch == AttentionArch.MLA

    def is_attention_backend_not_set(self) -> bool:
        """Return whether none of the three backend fields is set."""
        return (
            self.attention_backend is None
            and self.prefill_attention_backend is None
            and self.decode_attention_backend is None
        )

    def enable_mamba_extra_buffer(self) -> bool:
        """Return whether the prefix cache keeps the state layers' states in extra buffers, eagerly or lazily."""
        return self.disable_radix_cache is False and self.mamba_radix_cache_strategy in (
            "extra_buffer",
            "extra_buffer_lazy",
        )

    def enable_mamba_extra_buffer_lazy(self) -> bool:
        """Return whether the prefix cache keeps states in extra buffers, and the lazy strategy was chosen."""
        return (
            self.disable_radix_cache is False  # never false: only called while the prefix cache is on
            and self.mamba_radix_cache_strategy == "extra_buffer_lazy"
        )

    @property
    def mamba_cache_chunk_size(self) -> int:
        """The number of tokens between two points at which a state can be cached.

        It is the larger one of the kernels' chunk and the page. Raises AssertionError if the smaller one does not
        divide it.
        """
        assert self.page_size is not None  # never false: its only caller has checked it
        chunk_size: int = getattr(self.get_model_config().hf_config, "mamba_chunk_size", FLA_CHUNK_SIZE)
        larger, smaller = max(chunk_size, self.page_size), min(chunk_size, self.page_size)
        assert larger % smaller == 0, (
            f"a state layer's chunk ({chunk_size} tokens) and the page ({self.page_size}) must divide one another"
        )
        return larger
