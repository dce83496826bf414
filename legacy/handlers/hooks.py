"""Functions that assign fields of the record that they get as an argument; they are functions in 0.5.14 too."""

from __future__ import annotations

from harness.world.machine import get_device_capability, get_npu_memory_capacity, is_cuda, is_hip, is_sm100_supported
from legacy.handlers.mamba import MambaHandlers
from legacy.record.arguments import Arguments
from legacy.record.record import Record

_GIB = 1024  # memory is counted in MiB


def set_default_server_args(args: Record) -> None:
    """Set an NPU's only attention backend, and sizes that depend on its memory.

    The parameter is named ``args`` as in the original, and not ``server_args``. The 173 writes of the slice are those
    to ``self`` and ``server_args``, so the four writes of resolved fields here are not among them.
    """
    args.attention_backend = "ascend"
    args.prefill_attention_backend = "ascend"
    args.decode_attention_backend = "ascend"
    if args.page_size is None:
        args.page_size = 128

    memory = get_npu_memory_capacity()
    if memory <= 32 * _GIB:
        _fill_sizes(args, chunk=4096, few_ranks=16, many_ranks=64)
    elif memory <= 64 * _GIB:
        _fill_sizes(args, chunk=8192, few_ranks=64, many_ranks=256)

    args.disable_custom_all_reduce = True
    if args.enable_hierarchical_cache:
        args.hicache_io_backend = "kernel_ascend"
        args.hicache_mem_layout = "page_first_kv_split" if args.use_mla_backend() else "page_first_direct"


def _fill_sizes(args: Record, *, chunk: int, few_ranks: int, many_ranks: int) -> None:
    if args.chunked_prefill_size is None:
        args.chunked_prefill_size = chunk
    decode = args.cuda_graph_config.decode
    if decode.max_bs is None:
        decode.max_bs = few_ranks if args.tp_size < 4 else many_ranks


def _hisparse_default_backend(kv_cache_dtype: str) -> str:
    if is_hip():
        return "tilelang"
    return "flashmla_kv" if kv_cache_dtype == "fp8_e4m3" else "flashmla_sparse"


def apply_hisparse_dsa_backend_defaults(
    server_args: Record, user_set_prefill: bool, user_set_decode: bool, kv_cache_dtype: str
) -> bool:
    """Return whether HiSparse is on; if it is, choose the sparse attention kernels that the user did not choose."""
    if not server_args.enable_hisparse:
        return False
    backend = _hisparse_default_backend(kv_cache_dtype)
    if not user_set_prefill:
        server_args.dsa_prefill_backend = backend
    if not user_set_decode:
        server_args.dsa_decode_backend = backend
    return True


def apply_deepseek_v4_defaults(server_args: Record, model_arch: str) -> None:
    """Set the attention backend, the page size and the type of the KV cache, and check type and speculation.

    Raises AssertionError for a type of the KV cache or a kind of speculation that the model does not support.
    """
    server_args.attention_backend = "dsv4"
    server_args.page_size = 256
    if server_args.kv_cache_dtype == "auto":
        server_args.kv_cache_dtype = "fp8_e4m3"

    if server_args.device == "npu":
        # Slot 4 has set all three backend fields to "ascend"; this model needs "dsv4" instead.
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

    # A value that equals the default counts as not given: the record does not tell the two apart.
    if server_args.swa_full_tokens_ratio == Arguments.swa_full_tokens_ratio:
        server_args.swa_full_tokens_ratio = 0.1

    if server_args.moe_runner_backend == "auto" and server_args.get_model_config().nvfp4_moe_meta is not None:
        server_args.moe_runner_backend = "flashinfer_trtllm_routed"


def validate_deepseek_v4_cp(server_args: Record) -> None:
    """Set what context parallelism implies, then check the numbers of ranks.

    Raises ValueError for any other strategy than interleaving, AssertionError for numbers of ranks that do not fit.
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


_MODELOPT = ("modelopt", "modelopt_fp8", "modelopt_fp4", "modelopt_mixed")


def apply_nemotron_h_defaults(server_args: MambaHandlers, model_arch: str) -> None:
    """Set what the checkpoint's quantization implies, then the attention backend and the cache of the states.

    Raises AssertionError if a quantized checkpoint has another activation than relu2, if the attention backend is
    triton, and for settings with which the states cannot be cached.
    """
    model_config = server_args.get_model_config()
    detected = model_config.quantization
    is_modelopt = detected in _MODELOPT
    if is_modelopt:
        assert model_config.hf_config.mlp_hidden_act == "relu2", "a quantized Nemotron-H activates with relu2"
        if detected == "modelopt":
            quant_algo = model_config.hf_config.quantization_config["quant_algo"]
            if quant_algo == "MIXED_PRECISION":
                server_args.quantization = "modelopt_mixed"
            else:
                server_args.quantization = "modelopt_fp4" if quant_algo == "NVFP4" else "modelopt_fp8"
        else:
            server_args.quantization = detected

    if (is_modelopt or detected is None) and server_args.moe_runner_backend == "auto":
        is_fp4 = detected in ("modelopt_fp4", "modelopt_mixed") or server_args.quantization == "modelopt_fp4"
        if is_sm100_supported() and server_args.moe_a2a_backend == "none":
            server_args.moe_runner_backend = "flashinfer_trtllm"
        # If the device has no compute capability, this comparison raises TypeError, as it does in the original.
        elif is_fp4 and is_cuda() and (8, 0) <= get_device_capability() < (10, 0):  # type: ignore[operator]
            server_args.moe_runner_backend = "marlin"
        else:
            server_args.moe_runner_backend = "flashinfer_cutlass"

    if is_sm100_supported() and server_args.attention_backend is None:
        server_args.attention_backend = "flashinfer"
    server_args._handle_mamba_radix_cache(model_arch=model_arch)
    assert server_args.attention_backend != "triton", (
        "Nemotron-H cannot attend with triton: its first layer may be a state layer"
    )
