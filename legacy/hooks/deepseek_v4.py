"""DeepSeek V4; the original is ``arg_groups/deepseek_v4_hook.py`` (0.5.14)."""

from __future__ import annotations

from legacy.arguments import Arguments
from legacy.record import Record


def apply_deepseek_v4_defaults(server_args: Record, model_arch: str) -> None:
    """Set the backend, the geometry and the type of the KV cache, and check what speculates.

    Raises AssertionError for a type of the KV cache or a kind of speculation that the model cannot have.
    """
    server_args.attention_backend = "dsv4"
    server_args.page_size = 256
    if server_args.kv_cache_dtype == "auto":
        server_args.kv_cache_dtype = "fp8_e4m3"

    if server_args.device == "npu":
        # The NPU's own defaults named "ascend" for all three a few slots ago.
        server_args.prefill_attention_backend = "dsv4"
        server_args.decode_attention_backend = "dsv4"
        server_args.page_size = 128
        server_args.kv_cache_dtype = "bfloat16"

    assert server_args.kv_cache_dtype in ("fp8_e4m3", "bfloat16"), (
        f"{model_arch} keeps its KV cache as fp8_e4m3 or bfloat16, not as {server_args.kv_cache_dtype}"
    )

    if server_args.max_running_requests is None:
        server_args.max_running_requests = 256

    if server_args.speculative_algorithm is not None:
        assert server_args.speculative_algorithm == "EAGLE", f"{model_arch} speculates with EAGLE alone"
        assert server_args.speculative_eagle_topk == 1, f"{model_arch} speculates with an EAGLE top-k of 1 alone"

    # Equal to the default counts as not given.
    if server_args.swa_full_tokens_ratio == Arguments.swa_full_tokens_ratio:
        server_args.swa_full_tokens_ratio = 0.1

    if server_args.moe_runner_backend == "auto" and server_args.get_model_config().nvfp4_moe_meta is not None:
        server_args.moe_runner_backend = "flashinfer_trtllm_routed"


def validate_deepseek_v4_cp(server_args: Record) -> None:
    """Set what context parallelism implies, then check that the machine's ranks allow it.

    Raises ValueError for another strategy than interleaving, AssertionError for ranks that do not fit.
    """
    if not server_args.enable_prefill_cp:
        return
    if server_args.cp_strategy != "interleave":
        raise ValueError(f"DeepSeek V4 splits the context by 'interleave' alone, not by {server_args.cp_strategy!r}")

    server_args.enable_dsa_prefill_context_parallel = True
    server_args.dsa_prefill_cp_mode = "round-robin-split"
    server_args.enable_dp_attention = True
    server_args.moe_dense_tp_size = 1
    server_args.attn_cp_size = server_args.tp_size // server_args.dp_size
    assert server_args.dp_size == 1, "an interleaved context leaves no rank for data parallel attention"
    assert server_args.tp_size <= 8, "context parallelism stays within one machine of 8 devices"
