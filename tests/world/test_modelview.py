from __future__ import annotations

import pytest

from harness.world.model import Model
from harness.world.modelview import AttentionArch, ModelConfig

OPTIONAL = ("attention_projection_layout", "mamba_chunk_size")


def test_attributes_a_model_does_not_have_are_absent() -> None:
    config = ModelConfig(Model()).hf_config
    for name in (*OPTIONAL, "text_config"):
        assert not hasattr(config, name)
        assert getattr(config, name, "default") == "default"


def test_attributes_that_are_none_are_there() -> None:
    config = ModelConfig(Model()).hf_config
    for name in ("index_topk", "quantization_config", "sliding_window_pattern", "dual_chunk_attention_config"):
        assert getattr(config, name, "default") is None


def test_attributes_a_model_has_are_its_own() -> None:
    model = Model(
        architectures=["A"],
        index_topk=2048,
        index_topk_freq=4,
        attention_projection_layout="fused_qkv",
        mamba_chunk_size=128,
        layer_types=["mamba"],
        num_key_value_heads=3,
    )
    config = ModelConfig(model).hf_config
    for name in ("architectures", "index_topk", "index_topk_freq", "layer_types", "num_key_value_heads", *OPTIONAL):
        assert getattr(config, name) == getattr(model, name)


@pytest.mark.parametrize(("ranks", "heads"), [(1, 8), (3, 2), (8, 1), (16, 1)])
def test_a_rank_has_at_least_one_head(ranks: int, heads: int) -> None:
    assert ModelConfig(Model(num_key_value_heads=8)).get_num_kv_heads(ranks) == heads


def test_no_rank_at_all_is_a_division_by_zero() -> None:
    with pytest.raises(ZeroDivisionError):
        ModelConfig(Model()).get_num_kv_heads(0)


def test_derived_attributes() -> None:
    plain = ModelConfig(Model())
    assert plain.attention_arch is AttentionArch.MHA
    assert plain.nvfp4_moe_meta is None
    described = ModelConfig(Model(attention="mla", nvfp4_moe=True, detected_quantization="fp8", context_len=9))
    assert described.attention_arch is AttentionArch.MLA
    assert described.nvfp4_moe_meta is not None
    assert (described.quantization, described.context_len) == ("fp8", 9)
