"""The model of a case: what the resolution reads of a HF config and of the model config derived from it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import msgspec

from harness.common.convert import struct_from_json, worded

Attention = Literal["mha", "mla"]

ATTENTIONS: tuple[str, ...] = get_args(Attention)

_Positive = Annotated[int, msgspec.Meta(ge=1, le=2**53)]
_Names = Annotated[list[str], msgspec.Meta(min_length=1), worded("a list of at least one string")]
_Tokens = Annotated[_Positive, worded("a positive integer (tokens)")]
_HFObject = Annotated[dict[str, Any] | None, worded("the HF config's object, or null")]


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One model, with the keys and defaults of the case contract; models are equal by value.

    A model contains lists and objects, so it has no hash: use `identity`. ``context_len`` is in tokens.
    ``quantization_config`` and ``dual_chunk_attention_config`` are objects of the HF config, unchanged. If
    ``attention_projection_layout`` or ``mamba_chunk_size`` is None, the HF config does not have that attribute.
    Values are checked when they come from JSON (`model_from_json`), not here.
    """

    architectures: _Names = msgspec.field(default_factory=lambda: ["LlamaForCausalLM"])
    attention: Attention = "mha"
    index_topk: int | None = None
    index_topk_freq: int = 1
    index_topk_pattern: str | list[str] | None = None
    quantization_config: _HFObject = None
    detected_quantization: str | None = None
    context_len: _Tokens = 4096
    num_attention_heads: _Positive = 32
    num_key_value_heads: _Positive = 8
    sliding_window_pattern: int | str | None = None
    layer_types: list[str] = msgspec.field(default_factory=list)
    is_encoder_decoder: bool = False
    has_attention_sinks: bool = False
    is_multimodal: bool = False
    dual_chunk_attention_config: _HFObject = None
    fp8_weights: bool = False
    gguf: bool = False
    mlp_hidden_act: str = "relu2"
    attention_projection_layout: str | None = None
    mamba_chunk_size: int | None = None
    nvfp4_moe: bool = False
    dllm_block_size: _Positive = 32

    def identity(self) -> bytes:
        """Return the same bytes for equal models, whatever their objects' key order, and for no others."""
        return msgspec.json.encode(self, order="deterministic")


def model_from_json(value: object, where: str, key: str = "model") -> Model:
    """Return the model that ``value``, a decoded JSON object, describes; missing keys take the defaults.

    Raises UsageError that names ``where`` ("cases.jsonl:3"), the key under ``key``, and what was expected.
    """
    return struct_from_json(Model, value, where, key)
