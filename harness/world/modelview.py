"""The model of a case in the shape that resolution code reads: a derived config around a HF config.

Names and meanings are facts of ``ModelConfig`` in ``sglang/srt/configs/model_config.py`` (0.5.14). An attribute that
a case does not describe is absent: reading it raises AttributeError, and ``getattr(config, name, default)`` returns
the default.
"""

from __future__ import annotations

from enum import IntEnum
from types import SimpleNamespace

from harness.world.model import Model


class AttentionArch(IntEnum):
    """The two attention architectures that a resolution tells apart."""

    MLA = 1
    MHA = 2


class HFConfig(SimpleNamespace):
    """The Hugging Face config, with ``architectures`` and whatever else a case says of it as plain attributes."""


_PLAIN = (
    "architectures",
    "index_topk",
    "index_topk_freq",
    "index_topk_pattern",
    "quantization_config",
    "num_attention_heads",
    "num_key_value_heads",
    "sliding_window_pattern",
    "layer_types",
    "dual_chunk_attention_config",
    "mlp_hidden_act",
)
_ABSENT_IF_NONE = ("attention_projection_layout", "mamba_chunk_size")


class ModelConfig:
    """What sglang derives from a checkpoint, with the HF config as ``hf_config``."""

    __slots__ = (
        "_num_key_value_heads",
        "attention_arch",
        "context_len",
        "has_attention_sinks",
        "hf_config",
        "is_encoder_decoder",
        "is_multimodal",
        "nvfp4_moe_meta",
        "quantization",
    )

    def __init__(self, model: Model) -> None:
        attributes = {name: getattr(model, name) for name in _PLAIN}
        for name in _ABSENT_IF_NONE:
            value = getattr(model, name)
            if value is not None:
                attributes[name] = value
        self.hf_config = HFConfig(**attributes)
        self.attention_arch = AttentionArch.MLA if model.attention == "mla" else AttentionArch.MHA
        self.context_len = model.context_len
        self.quantization = model.detected_quantization
        self.is_encoder_decoder = model.is_encoder_decoder
        self.is_multimodal = model.is_multimodal
        self.has_attention_sinks = model.has_attention_sinks
        # Code asks only whether there is one, so an empty object is enough.
        self.nvfp4_moe_meta: object | None = SimpleNamespace() if model.nvfp4_moe else None
        self._num_key_value_heads = model.num_key_value_heads

    def get_num_kv_heads(self, tensor_parallel_size: int) -> int:
        """Return the number of key-value heads of one rank, at least one."""
        return max(1, self._num_key_value_heads // tensor_parallel_size)
