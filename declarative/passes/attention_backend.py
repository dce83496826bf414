"""Attention backends: the default, and passes that adapt it and other fields to each other."""

from __future__ import annotations

from typing import Final

from declarative.engine.steps import Declaration, check, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.facts import is_encoder_decoder, on_device
from declarative.inputs.reading import attention_backends_of
from declarative.inputs.state import GRAPHS
from harness.world.cuda_graph import Backend
from harness.world.machine import (
    cpu_has_amx_support,
    is_cuda,
    is_flashinfer_available,
    is_hip,
    is_hopper_with_cuda_12_3,
    is_mps,
    is_sm100_supported,
    xpu_has_xmx_support,
)

WHISPER: Final = "WhisperForConditionalGeneration"


def is_no_spec_infer_or_topk_one(view: ResolvedView) -> bool:
    """Return whether drafts cannot branch: no top-k is given, or it is 1 and a page has one token.

    A page size that is not given yet counts as one token.
    """
    topk = view.speculative_eagle_topk
    return topk is None or (topk == 1 and (view.page_size == 1 or view.page_size is None))


def default_attention_backend(view: ResolvedView) -> str:
    """Return the fastest backend for the machine and the kind of attention.

    In 0.5.14 a plug-in platform may name its own; a case has no plug-ins.
    """
    if WHISPER in view.model.hf_config.architectures:
        return "flashinfer"
    if view.model.uses_mla:
        return _default_mla_backend(view)
    if is_hopper_with_cuda_12_3() and is_no_spec_infer_or_topk_one(view):
        return "fa3"
    if (
        is_sm100_supported()
        and is_no_spec_infer_or_topk_one(view)
        # trtllm_mha supports only a top-k of 1. If one is not given, a later step may choose a larger one.
        and (view.speculative_algorithm is None or view.speculative_eagle_topk is not None)
    ):
        return "trtllm_mha"
    if is_hip():
        return "aiter"
    if is_mps():
        return "torch_native"
    return "flashinfer" if is_flashinfer_available() and not view.model.config.has_attention_sinks else "triton"


def _default_mla_backend(view: ResolvedView) -> str:
    if is_hopper_with_cuda_12_3():
        return "fa3"
    if is_sm100_supported():
        return "flashinfer"
    if is_hip():
        # AITER supports only these two numbers of heads.
        return "aiter" if view.model.config.get_num_kv_heads(view.tp_size) in (16, 128) else "triton"
    return "torch_native" if is_mps() else "triton"


@post_process(writes=("attention_backend",))
def _attention_backend_default(view: ResolvedView) -> Declaration | None:
    """One backend field describes both phases if they use the same kernels; if nobody chose kernels, the machine
    decides.
    """
    prefill = view.prefill_attention_backend
    if prefill is not None and prefill == view.decode_attention_backend:
        return None if prefill == view.attention_backend else {"attention_backend": prefill}
    if view.attention_backend is None:
        return {"attention_backend": default_attention_backend(view)}
    return None


@post_process(state=GRAPHS)
def _graph_disable_for_attention_backend(view: ResolvedView) -> Declaration | None:
    """CUDA graphs cannot capture PyTorch's own kernels or flex_attention.

    Raises AssertionError for speculation with flex_attention.
    """
    backend = view.attention_backend
    if backend not in ("torch_native", "flex_attention"):
        return None
    if backend == "flex_attention":
        assert view.speculative_algorithm is None, "flex_attention cannot speculate"
    return dict.fromkeys(GRAPHS, Backend.DISABLED)


@post_process(state=("disable_radix_cache",), when=is_encoder_decoder)
def _whisper_radix_cache_disable(view: ResolvedView) -> Declaration | None:
    """Whisper's encoder pads tokens, so two requests with the same prefix do not have the same cache entries."""
    if not view.disable_radix_cache and WHISPER in view.model.hf_config.architectures:
        return {"disable_radix_cache": True}
    return None


@post_process(writes=("prefill_attention_backend",))
def _cutedsl_prefill_backend_fill(view: ResolvedView) -> Declaration | None:
    """cutedsl_mla can only decode, so trtllm_mla prefills unless the user chose another backend."""
    if view.prefill_attention_backend is None and "cutedsl_mla" in (
        view.attention_backend,
        view.decode_attention_backend,
    ):
        return {"prefill_attention_backend": "trtllm_mla"}
    return None


@post_process(writes=("attention_backend",))
def _attention_backend_fa3_fp8_fallback(view: ResolvedView) -> Declaration | None:
    """fa3 cannot read a KV cache of fp8_e5m2."""
    if view.attention_backend == "fa3" and view.kv_cache_dtype == "fp8_e5m2":
        return {"attention_backend": "triton"}
    return None


@post_process(state=("mem_fraction_static",))
def _aiter_memory_fraction(view: ResolvedView) -> Declaration | None:
    """AITER needs memory of its own for contexts longer than 8,192 tokens.

    Raises TypeError if the user gave None as the fraction, because the original does.
    """
    if view.attention_backend == "aiter" and view.model.config.context_len > 8192:
        fraction = view.mem_fraction_static
        fraction *= 0.85
        return {"mem_fraction_static": fraction}
    return None


@post_process(writes=("attention_backend",), when=on_device("cpu", "xpu"))
def _attention_backend_platform_fallbacks(view: ResolvedView) -> Declaration | None:
    """Intel's kernels need AMX on a CPU and XMX on a GPU."""
    backend = view.attention_backend
    if backend == "intel_amx" and view.device == "cpu" and not cpu_has_amx_support():
        return {"attention_backend": "torch_native"}
    if backend == "intel_xpu" and view.device == "xpu" and not xpu_has_xmx_support():
        return {"attention_backend": "triton"}
    return None


@post_process(writes=("attention_backend",), state=("enable_mixed_chunk", "disable_radix_cache"))
def _attention_backend_dual_chunk(view: ResolvedView) -> Declaration:
    """A model with dual chunk attention has one backend, which mixes no chunks and caches no prefixes.

    Raises ValueError for another backend with such a model.
    """
    backend = view.attention_backend
    declared: Declaration = {}
    if view.model.hf_config.dual_chunk_attention_config is not None:
        if backend is None:
            backend = declared["attention_backend"] = "dual_chunk_flash_attn"
        elif backend != "dual_chunk_flash_attn":
            raise ValueError(f"the model attends in dual chunks, which needs dual_chunk_flash_attn and not {backend}")
    if backend == "dual_chunk_flash_attn":
        declared["enable_mixed_chunk"] = False
        declared["disable_radix_cache"] = True
    return declared


@check()
def _kv4_compatibility(view: ResolvedView) -> None:
    """Few backends read a 4-bit KV cache, and only CUDA has them.

    Raises RuntimeError for another platform than CUDA, AssertionError for a backend that cannot read the cache.
    """
    if view.kv_cache_dtype != "fp4_e2m1":
        return
    if not is_cuda():
        raise RuntimeError("a KV cache of fp4_e2m1 was tried on CUDA alone")
    uses_mla = view.model.uses_mla
    prefill_backend, decode_backend = attention_backends_of(view)
    accepted: tuple[str, ...]
    if prefill_backend == "fa4":
        accepted = (
            ("cutlass_mla", "flashinfer", "trtllm_mla") if uses_mla else ("triton", "torch_native", "flex_attention")
        )
        assert decode_backend in accepted, f"a 4-bit KV cache filled by fa4 is read by {accepted} alone"
    elif prefill_backend == decode_backend:
        accepted = (
            ("cutlass_mla", "flashinfer", "trtllm_mla", "flashmla")
            if uses_mla
            else ("triton", "torch_native", "flex_attention", "trtllm_mha")
        )
        assert view.attention_backend in accepted, f"a 4-bit KV cache is read by {accepted} alone"
