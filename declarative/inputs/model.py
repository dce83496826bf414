"""The model of a resolution as passes and providers read it: ``view.model``, and a provider's second argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from declarative.engine.view import ReadOnly, ReadOnlyView
from harness.world.modelview import AttentionArch, HFConfig, ModelConfig

_MLA: Final = AttentionArch.MLA


class ModelView(ReadOnlyView):
    """A checkpoint's configuration, read-only.

    ``hf_config`` is the Hugging Face config, and ``config`` is what is derived from it (quantization, context length
    and others). ``architecture`` is the first architecture that the config lists. ``uses_mla`` is true if the model
    has multi-head latent attention.
    """

    if TYPE_CHECKING:
        architecture: str
        uses_mla: bool
        is_encoder_decoder: bool
        hf_config: HFConfig

    @property
    def config(self) -> ModelConfig:
        """What is derived from the checkpoint's configuration."""
        # Made only when it is read, because few passes read it.
        return cast(ModelConfig, ReadOnly(self._config))


def read_only_model(config: ModelConfig) -> ModelView:
    """Return the read-only form of ``config``. Raises IndexError when it has no architecture."""
    hf_config = config.hf_config
    return ModelView(
        {
            "architecture": hf_config.architectures[0],
            "uses_mla": config.attention_arch is _MLA,
            "is_encoder_decoder": config.is_encoder_decoder,
            "_config": config,
            "hf_config": ReadOnlyView(vars(hf_config)),
        },
    )
