"""What handlers ask of the record: its model, its effective backends, its mamba strategy."""

from __future__ import annotations

from harness.world.machine import current
from harness.world.modelview import AttentionArch, ModelConfig
from legacy.record.arguments import Arguments

FLA_CHUNK_SIZE = 64
"""Tokens of a chunk of the linear attention kernels (``layers/attention/fla/chunk_delta_h.py`` in 0.5.14)."""


class Record(Arguments):
    """The arguments, and what follows from them without any assignment."""

    def get_model_config(self) -> ModelConfig:
        """Return what is derived from the checkpoint: that of the current case."""
        return current().model_config

    def get_attention_backends(self) -> tuple[str | None, str | None]:
        """Return the kernels that prefill and decode would run; an empty name counts as none."""
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
        """Return whether states are kept in extra buffers, eagerly or lazily."""
        return self.disable_radix_cache is False and self.mamba_radix_cache_strategy in (
            "extra_buffer",
            "extra_buffer_lazy",
        )

    def enable_mamba_extra_buffer_lazy(self) -> bool:
        """Return whether states are kept in extra buffers lazily."""
        return (
            self.disable_radix_cache is False  # never false: asked where there is such a cache
            and self.mamba_radix_cache_strategy == "extra_buffer_lazy"
        )

    @property
    def mamba_cache_chunk_size(self) -> int:
        """The tokens between two points at which a state can be cached.

        Raises AssertionError when neither of chunk and page divides the other.
        """
        assert self.page_size is not None  # never false: whoever asks has looked
        chunk_size: int = getattr(self.get_model_config().hf_config, "mamba_chunk_size", FLA_CHUNK_SIZE)
        larger, smaller = max(chunk_size, self.page_size), min(chunk_size, self.page_size)
        assert larger % smaller == 0, (
            f"a state layer's chunk ({chunk_size} tokens) and the page ({self.page_size}) must divide one another"
        )
        return larger
