"""The page size, pass by pass."""

from __future__ import annotations

from typing import Any

import pytest
from callables import A100, B200, H100, MI300X, MUSA, SM120, XPU, declared

from declarative.passes import page_size as passes
from harness.world.hardware import Hardware

FA4_FIELDS = ["attention_backend", "prefill_attention_backend", "decode_attention_backend"]


@pytest.mark.parametrize("field", ["attention_backend", "decode_attention_backend"])
@pytest.mark.parametrize(
    ("backend", "hardware", "kept", "snapped"),
    [
        ("flashmla", H100, (64,), 64),
        ("cutlass_mla", B200, (128,), 128),
        ("trtllm_mla", B200, (32, 64), 64),
        ("trtllm_mla", SM120, (32, 64), 64),
        ("tokenspeed_mla", B200, (32, 64), 64),
        ("cutedsl_mla", B200, (32, 64), 64),
        ("trtllm_mha", B200, (16, 32, 64), 64),
    ],
)
def test_each_kernel_snaps_the_page_size(
    field: str, backend: str, hardware: Hardware, kept: tuple[int, ...], snapped: int
) -> None:
    def page(given: int | None) -> Any:
        args = {field: backend, "page_size": given, "kv_cache_dtype": "fp8_e4m3"}
        return declared(passes._mla_backend_page_constraints, hardware, args).get("page_size", given)

    assert {given: page(given) for given in (None, 1, 16, 32, 64, 128)} == {
        given: given if given in kept else snapped for given in (None, 1, 16, 32, 64, 128)
    }


def test_a_prefill_backend_snaps_for_trtllm_mha_alone() -> None:
    step = passes._mla_backend_page_constraints
    assert declared(step, B200, {"prefill_attention_backend": "trtllm_mha"}) == {"page_size": 64}
    assert declared(step, B200, {"prefill_attention_backend": "trtllm_mla"}) == {}


@pytest.mark.parametrize(
    ("hardware", "args", "error", "words"),
    [
        (H100, {"attention_backend": "trtllm_mla"}, ValueError, "trtllm_mla runs on Blackwell"),
        (B200, {"attention_backend": "trtllm_mla", "kv_cache_dtype": "fp8_e5m2"}, ValueError, "of fp8_e5m2"),
        (H100, {"decode_attention_backend": "tokenspeed_mla"}, ValueError, "tokenspeed_mla runs on"),
        (B200, {"decode_attention_backend": "tokenspeed_mla"}, ValueError, "fp8_e4m3, not of auto"),
        (SM120, {"attention_backend": "cutedsl_mla"}, ValueError, "cutedsl_mla runs on"),
        (B200, {"prefill_attention_backend": "cutedsl_mla"}, AssertionError, "cannot prefill"),
        (B200, {"attention_backend": "cutedsl_mla", "kv_cache_dtype": "fp8_e5m2"}, ValueError, "of fp8_e5m2"),
        (H100, {"attention_backend": "trtllm_mha"}, ValueError, "trtllm_mha prefills"),
        (A100, {"decode_attention_backend": "trtllm_mha"}, ValueError, "trtllm_mha decodes"),
        # The first of two checks that fail is the one that refuses.
        (
            B200,
            {
                "attention_backend": "trtllm_mla",
                "decode_attention_backend": "tokenspeed_mla",
                "kv_cache_dtype": "fp8_e5m2",
            },
            ValueError,
            "trtllm_mla has no kernel",
        ),
    ],
)
def test_what_a_kernel_cannot_have(
    hardware: Hardware, args: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        declared(passes._mla_backend_page_constraints, hardware, args)


def test_trtllm_mha_decodes_on_sm90_beside_another_prefill() -> None:
    split = {"prefill_attention_backend": "fa3", "decode_attention_backend": "trtllm_mha"}
    assert declared(passes._mla_backend_page_constraints, H100, split) == {"page_size": 64}


@pytest.mark.parametrize("field", FA4_FIELDS)
def test_fa4_in_any_field_forces_pages_of_128(field: str) -> None:
    step = passes._fa4_page_constraint
    assert declared(step, B200, {field: "fa4", "page_size": 64}) == {"page_size": 128}
    assert declared(step, B200, {field: "fa4"}, attention="mla") == {}
    assert declared(step, H100, {field: "fa4"}) == {}
    assert declared(step, B200, {field: "fa3"}) == {}


@pytest.mark.parametrize("field", ["attention_backend", "decode_attention_backend"])
def test_intel_xpu_decodes_from_some_page_sizes(field: str) -> None:
    step = passes._intel_xpu_page_constraint
    args = {field: "intel_xpu", "prefill_attention_backend": "triton"}
    for page, mha, mla in ((16, 128, None), (64, None, None), (128, None, None), (1, 128, 128), (None, 128, 128)):
        assert declared(step, XPU, {**args, "page_size": page}).get("page_size") == mha
        assert declared(step, XPU, {**args, "page_size": page}, attention="mla").get("page_size") == mla


def test_intel_xpu_cannot_prefill_latent_attention() -> None:
    with pytest.raises(ValueError, match="choose triton for prefill"):
        declared(passes._intel_xpu_page_constraint, XPU, {"attention_backend": "intel_xpu"}, attention="mla")


def test_the_default_and_the_users_own() -> None:
    step = passes._page_size_default
    assert declared(step, H100) == {"page_size": 1}
    assert declared(step, MUSA) == {"page_size": 64}
    layout = {"SGLANG_AITER_KV_CACHE_LAYOUT": "Vectorized_5D"}
    assert declared(step, MI300X, env=layout) == {"page_size": 64}
    assert declared(step, MI300X) == {"page_size": 1}
    assert declared(step, H100, env=layout) == {"page_size": 1}
    assert declared(step, MUSA, {"page_size": 0}) == {}
