"""The defaults of an Ascend NPU; the original is in ``hardware_backend/npu/utils.py`` (0.5.14)."""

from __future__ import annotations

from harness.world.machine import get_npu_memory_capacity
from legacy.record import Record

_GIB = 1024  # memory is counted in MiB


def set_default_server_args(args: Record) -> None:
    """Set the one attention backend there is, and sizes by the device's memory.

    The parameter is called as in the original: its four writes are not among the slice's 173.
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
