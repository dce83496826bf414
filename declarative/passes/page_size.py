"""Passes over the page size: what the attention backends require, in execution order, and the default at the end."""

from __future__ import annotations

from typing import Any, Final

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.reading import attention_backends_of
from harness.world.environ import envs
from harness.world.machine import (
    is_blackwell_supported,
    is_hip,
    is_musa,
    is_sm90_supported,
    is_sm100_supported,
    is_sm120_supported,
)

_CONSTRAINED: Final = frozenset(
    ("flashmla", "cutlass_mla", "trtllm_mla", "tokenspeed_mla", "cutedsl_mla", "trtllm_mha")
)


@post_process(writes=("page_size",))
def _mla_backend_page_constraints(view: ResolvedView) -> Declaration | None:
    """Six attention backends read pages of fixed sizes, and each has limits on the machine and the KV cache.

    Raises ValueError for a machine or a type of the KV cache that a backend does not support, AssertionError for a
    prefill with cutedsl_mla.
    """
    combined, decode, prefill = view.attention_backend, view.decode_attention_backend, view.prefill_attention_backend
    if combined not in _CONSTRAINED and decode not in _CONSTRAINED and prefill not in _CONSTRAINED:
        return None
    named = (combined, decode)
    page_size = given = view.page_size
    if "flashmla" in named:
        page_size = 64
    if "cutlass_mla" in named:
        page_size = 128
    if "trtllm_mla" in named:
        page_size = _trtllm_mla_page_size(view, page_size)
    if "tokenspeed_mla" in named:
        page_size = _tokenspeed_mla_page_size(view, page_size)
    if "cutedsl_mla" in named or prefill == "cutedsl_mla":
        page_size = _cutedsl_mla_page_size(view, page_size)
        if prefill is None:
            # The next pass, `_cutedsl_prefill_backend_fill`, declares this; the check below already needs it.
            prefill = "trtllm_mla"
    if "trtllm_mha" in named or prefill == "trtllm_mha":
        # Here an empty name is a backend of its own; for `attention_backends_of` it would count as none.
        page_size = _trtllm_mha_page_size(
            combined if prefill is None else prefill, combined if decode is None else decode, page_size
        )
    return None if page_size is given else {"page_size": page_size}


def _trtllm_mla_page_size(view: ResolvedView, page_size: Any) -> Any:
    if not is_blackwell_supported():
        raise ValueError("trtllm_mla runs on Blackwell (SM100 and SM12x) alone: choose another backend")
    if view.kv_cache_dtype not in ("fp8_e4m3", "fp4_e2m1", "bf16", "auto"):
        raise ValueError(f"trtllm_mla has no kernel for a KV cache of {view.kv_cache_dtype}")
    return page_size if page_size in (32, 64) else 64


def _tokenspeed_mla_page_size(view: ResolvedView, page_size: Any) -> Any:
    if not is_blackwell_supported():
        raise ValueError("tokenspeed_mla runs on Blackwell (SM100 and SM12x) alone: choose another backend")
    if view.kv_cache_dtype != "fp8_e4m3":
        raise ValueError(f"tokenspeed_mla reads a KV cache of fp8_e4m3, not of {view.kv_cache_dtype}")
    return page_size if page_size in (32, 64) else 64


def _cutedsl_mla_page_size(view: ResolvedView, page_size: Any) -> Any:
    assert view.prefill_attention_backend != "cutedsl_mla", "cutedsl_mla decodes, it cannot prefill"
    if not is_sm100_supported():
        raise ValueError("cutedsl_mla runs on Blackwell (SM100) alone: choose another backend")
    if view.kv_cache_dtype not in ("fp8_e4m3", "bf16", "bfloat16", "auto"):
        raise ValueError(f"cutedsl_mla has no kernel for a KV cache of {view.kv_cache_dtype}")
    return page_size if page_size in (32, 64) else 64


def _trtllm_mha_page_size(prefill: str | None, decode: str | None, page_size: Any) -> Any:
    if prefill == "trtllm_mha" and not is_sm100_supported():
        raise ValueError("trtllm_mha prefills on Blackwell (SM100) alone: choose another prefill backend")
    if decode == "trtllm_mha" and not (is_sm90_supported() or is_sm100_supported() or is_sm120_supported()):
        raise ValueError("trtllm_mha decodes on SM90, SM100 and SM120 alone: choose another decode backend")
    return page_size if page_size in (16, 32, 64) else 64


@post_process(writes=("page_size",))
def _fa4_page_constraint(view: ResolvedView) -> Declaration | None:
    """fa4 reads pages of 128 tokens, whichever of the three backend fields names it (public fix #28825)."""
    if (
        "fa4" in (view.attention_backend, view.decode_attention_backend, view.prefill_attention_backend)
        and not view.model.uses_mla
        and is_sm100_supported()
    ):
        return {"page_size": 128}
    return None


@post_process(writes=("page_size",))
def _intel_xpu_page_constraint(view: ResolvedView) -> Declaration | None:
    """intel_xpu decodes from pages of a few sizes only.

    Raises ValueError if it would prefill latent attention, which it cannot do.
    """
    if "intel_xpu" not in (
        view.attention_backend,
        view.decode_attention_backend,
        view.prefill_attention_backend,
    ):
        return None
    prefill_backend, decode_backend = attention_backends_of(view)
    if view.model.uses_mla and prefill_backend == "intel_xpu":
        raise ValueError("intel_xpu decodes latent attention and cannot prefill it: choose triton for prefill")
    if decode_backend == "intel_xpu":
        page_sizes = (16, 32, 64, 128) if view.model.uses_mla else (64, 128)
        if view.page_size not in page_sizes:
            return {"page_size": 128}
    return None


@post_process(writes=("page_size",))
def _page_size_default(view: ResolvedView) -> Declaration | None:
    """A page has one token unless a platform's cache layout needs more."""
    if view.page_size is not None:
        return None
    # Only ROCm has kernels that read this layout; elsewhere the variable has no effect.
    if is_hip() and envs.SGLANG_AITER_KV_CACHE_LAYOUT.get().lower() == "vectorized_5d":
        return {"page_size": 64}
    return {"page_size": 64 if is_musa() else 1}
