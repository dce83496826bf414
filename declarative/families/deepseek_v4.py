"""DeepSeek V4."""

from __future__ import annotations

from typing import Final

from declarative.engine.steps import Declaration, check, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.facts import architecture_in
from declarative.inputs.server_args import ServerArgs
from harness.world.machine import is_hip, is_sm120_supported

is_deepseek_v4 = architecture_in("DeepseekV4ForCausalLM")

# These turn off the kernels that need tensor memory, or more shared memory than SM120 has.
_SM120_KERNELS: Final = {
    "SGLANG_OPT_FP8_WO_A_GEMM": False,
    "SGLANG_OPT_USE_TOPK_V2": False,
    "SGLANG_OPT_USE_TILELANG_MHC_PRE": False,
    "SGLANG_OPT_DEEPGEMM_HC_PRENORM": False,
    "SGLANG_FP8_PAGED_MQA_LOGITS_TORCH": True,
}
_HIP_KERNELS: Final = {
    "SGLANG_OPT_DEEPGEMM_HC_PRENORM": False,
    "SGLANG_OPT_FP8_WO_A_GEMM": False,
    "SGLANG_OPT_USE_JIT_INDEXER_METADATA": False,
    "SGLANG_OPT_USE_TOPK_V2": False,
    "SGLANG_OPT_USE_TILELANG_MHC_PRE": False,
    "SGLANG_OPT_USE_TILELANG_MHC_POST": False,
    "SGLANG_OPT_USE_MULTI_STREAM_OVERLAP": False,
    "SGLANG_OPT_USE_FUSED_COMPRESS": True,
    "SGLANG_OPT_USE_AITER_INDEXER": True,
    "SGLANG_FP8_PAGED_MQA_LOGITS_TORCH": True,
    "SGLANG_EAGER_INPUT_NO_COPY": True,
}


@post_process(writes=("kv_cache_dtype",), when=is_deepseek_v4)
def _deepseek_v4_kv_cache_dtype(view: ResolvedView) -> Declaration | None:
    """DeepSeek V4 keeps its KV cache as fp8_e4m3, on an NPU as bfloat16.

    Raises AssertionError for any other type.
    """
    dtype = given = view.kv_cache_dtype
    if view.device == "npu":
        dtype = "bfloat16"
    elif dtype == "auto":
        dtype = "fp8_e4m3"
    assert dtype in ("fp8_e4m3", "bfloat16"), (
        f"{view.model.architecture} keeps its KV cache as fp8_e4m3 or bfloat16, not as {dtype}"
    )
    return None if dtype == given else {"kv_cache_dtype": dtype}


@check(when=is_deepseek_v4)
def _deepseek_v4_speculation_validation(view: ResolvedView) -> None:
    """DeepSeek V4 speculates only with EAGLE and one branch.

    Raises AssertionError for any other speculation.
    """
    if view.speculative_algorithm is not None:
        name = view.model.architecture
        assert view.speculative_algorithm == "EAGLE", f"{name} speculates with EAGLE alone"
        assert view.speculative_eagle_topk == 1, f"{name} speculates with an EAGLE top-k of 1 alone"


@post_process(
    writes=(
        "attention_backend",
        "prefill_attention_backend",
        "decode_attention_backend",
        "page_size",
        "swa_full_tokens_ratio",
        "moe_runner_backend",
    ),
    state=("max_running_requests",),
    when=is_deepseek_v4,
)
def _deepseek_v4_overrides(view: ResolvedView) -> Declaration:
    """DeepSeek V4 has one attention backend with pages of its own size, and few full-attention tokens."""
    declared: Declaration = {"attention_backend": "dsv4", "page_size": 256}
    if view.device == "npu":
        # `_npu_defaults` has set all three backend fields to "ascend"; this model needs "dsv4" instead.
        declared |= {"prefill_attention_backend": "dsv4", "decode_attention_backend": "dsv4", "page_size": 128}
    if view.max_running_requests is None:
        declared["max_running_requests"] = 256
    # A value that equals the default counts as not given: the view does not tell the two apart.
    if view.swa_full_tokens_ratio == ServerArgs.swa_full_tokens_ratio:
        declared["swa_full_tokens_ratio"] = 0.1
    if view.moe_runner_backend == "auto" and view.model.config.nvfp4_moe_meta is not None:
        declared["moe_runner_backend"] = "flashinfer_trtllm_routed"
    return declared


@post_process(
    writes=("enable_dp_attention", "moe_dense_tp_size", "attn_cp_size"),
    state=("enable_dsa_prefill_context_parallel", "dsa_prefill_cp_mode"),
    when=is_deepseek_v4,
)
def _deepseek_v4_context_parallelism(view: ResolvedView) -> Declaration | None:
    """DeepSeek V4 splits a context only by interleaving, over the ranks of one machine.

    Raises ValueError for another strategy, AssertionError for numbers of ranks that do not fit.
    """
    if not view.enable_prefill_cp:
        return None
    if view.cp_strategy != "interleave":
        raise ValueError(f"DeepSeek V4 splits the context by 'interleave' alone, not by {view.cp_strategy!r}")
    # Computed before the checks, so that 0 data parallel ranks raise ZeroDivisionError, as in the original.
    attn_cp_size = view.tp_size // view.dp_size
    assert view.dp_size == 1, "an interleaved context leaves no rank for data parallel attention"
    assert view.tp_size <= 8, "context parallelism stays within one machine of 8 devices"
    return {
        "enable_dp_attention": True,
        "moe_dense_tp_size": 1,
        "attn_cp_size": attn_cp_size,
        "enable_dsa_prefill_context_parallel": True,
        "dsa_prefill_cp_mode": "round-robin-split",
    }


@post_process(
    writes=("moe_runner_backend",),
    env=tuple(dict.fromkeys((*_SM120_KERNELS, *_HIP_KERNELS))),
    when=is_deepseek_v4,
)
def _deepseek_v4_sm120_moe(view: ResolvedView) -> Declaration | None:
    """SM120 and ROCm lack some of the model's kernels, so variables select others."""
    if is_sm120_supported():
        if view.moe_runner_backend == "auto":
            return {"moe_runner_backend": "marlin", **_SM120_KERNELS}
        return dict(_SM120_KERNELS)
    return dict(_HIP_KERNELS) if is_hip() else None
