"""Functions that read one fact from a HF config or a path, under the original's names (0.5.14)."""

from __future__ import annotations

from typing import Any

from harness.world.modelview import HFConfig

INSTANCE = "instance"
"""The scheme of a model whose weights come from a running server; such a model has no config of its own to read."""

DSA_ARCHITECTURES = (
    "DeepseekV3ForCausalLM",
    "DeepseekV32ForCausalLM",
    "DeepseekV3ForCausalLMNextN",
    "MistralLarge3ForCausalLM",
    "PixtralForConditionalGeneration",
    "GlmMoeDsaForCausalLM",
)


def parse_connector_type(url: str) -> str:
    """Return what is before the last ``://`` in the first line of ``url``, the empty string if there is none."""
    before, separator, _ = url.partition("\n")[0].rpartition("://")
    return before if separator else ""


def is_deepseek_dsa(config: HFConfig) -> bool:
    """Return whether the model has DeepSeek's sparse attention: an architecture that supports it, and an indexer."""
    return config.architectures[0] in DSA_ARCHITECTURES and config.index_topk is not None


def get_quantization_config(config: HFConfig) -> Any:
    """Return the quantization method that the HF config declares, None if it declares none."""
    declared = config.quantization_config
    return None if declared is None else declared.get("quant_method")


def get_mimo_v2_fused_qkv_expected_tp_size(config: HFConfig) -> int | None:
    """Return for how many attention ranks fused QKV weights were laid out, None if they are not fused.

    Raises ValueError for any other layout.
    """
    layout = getattr(config, "attention_projection_layout", None)
    if layout is None:
        return None
    if layout != "fused_qkv":
        raise ValueError(f"MiMoV2 knows the attention projection layout 'fused_qkv' or none, not {layout!r}")
    heads: int = config.num_key_value_heads
    return heads
