from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from world_strategies import models, refused

from harness.common.convert import words_for
from harness.world.model import Model, model_from_json


def test_the_defaults_are_the_contracts() -> None:
    assert msgspec.structs.asdict(model_from_json({}, "x:1")) == {
        "architectures": ["LlamaForCausalLM"],
        "attention": "mha",
        "index_topk": None,
        "index_topk_freq": 1,
        "index_topk_pattern": None,
        "quantization_config": None,
        "detected_quantization": None,
        "context_len": 4096,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "sliding_window_pattern": None,
        "layer_types": [],
        "is_encoder_decoder": False,
        "has_attention_sinks": False,
        "is_multimodal": False,
        "dual_chunk_attention_config": None,
        "fp8_weights": False,
        "gguf": False,
        "mlp_hidden_act": "relu2",
        "attention_projection_layout": None,
        "mamba_chunk_size": None,
        "nvfp4_moe": False,
        "dllm_block_size": 32,
    }


def test_every_key_has_its_words() -> None:
    assert all(words_for(field.type) for field in msgspec.structs.fields(Model))


def test_defaults_are_not_shared() -> None:
    one, other = Model(), Model()
    one.architectures.append("Other")
    one.layer_types.append("mamba")
    assert other == Model()
    assert other.architectures == ["LlamaForCausalLM"]


@given(models)
def test_identity_survives_the_way_through_json(model: Model) -> None:
    again = model_from_json(msgspec.json.decode(model.identity()), "x:1")
    assert again == model
    assert again.identity() == model.identity()


def test_identity_ignores_the_order_of_keys_and_keeps_types_apart() -> None:
    one = Model(quantization_config={"a": 1, "b": {"c": 2, "d": 3}})
    other = Model(quantization_config={"b": {"d": 3, "c": 2}, "a": 1})
    assert one.identity() == other.identity()
    assert one.identity() != Model(quantization_config={"a": True, "b": {"c": 2, "d": 3}}).identity()


@pytest.mark.parametrize(
    ("key", "value", "parts"),
    [
        ("architectures", [], ["at least one string", "not []"]),
        ("architectures", "LlamaForCausalLM", ["list of at least one string"]),
        ("attention", "mal", ["one of mha, mla", "'mla'"]),
        ("index_topk", "2048", ["an integer or null"]),
        ("index_topk_pattern", 3, ["a string, a list of strings, or null"]),
        ("quantization_config", "fp8", ["the HF config's object, or null"]),
        ("context_len", 0, ["(tokens)"]),
        ("num_attention_heads", 1.5, ["a positive integer", "not 1.5"]),
        ("gguf", "yes", ["true or false", "not 'yes'"]),
        ("layer_types", ["mamba", 1], ["a list of strings"]),
    ],
)
def test_a_wrong_value_is_named(key: str, value: object, parts: list[str]) -> None:
    sentence = refused(model_from_json, {key: value}, "cases.jsonl:3")
    assert sentence.startswith(f"cases.jsonl:3: model.{key} must be ")
    for part in parts:
        assert part in sentence


def test_an_unknown_key_is_named_with_the_nearest() -> None:
    sentence = refused(model_from_json, {"num_heads": 1}, "cases.jsonl:3")
    assert sentence.startswith("cases.jsonl:3: unknown key model.num_heads (did you mean ")
    assert "'num_attention_heads'" in sentence
