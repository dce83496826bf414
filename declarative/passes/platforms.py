"""The defaults and limits of each platform other than CUDA and ROCm; these passes run before most others."""

from __future__ import annotations

from typing import Any, Final

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.facts import on_device
from harness.world.cuda_graph import Backend
from harness.world.environ import envs
from harness.world.machine import get_npu_memory_capacity, is_host_cpu_arm64

_GIB: Final = 1024  # memory is counted in MiB


@post_process(writes=("attention_backend", "sampling_backend"), when=on_device("hpu"))
def _hpu_defaults(view: ResolvedView) -> Declaration:
    """Gaudi runs PyTorch's own kernels alone, whatever the user chose."""
    return {"attention_backend": "torch_native", "sampling_backend": "pytorch"}


@post_process(writes=("attention_backend", "sampling_backend"), when=on_device("cpu"))
def _cpu_defaults(view: ResolvedView) -> Declaration:
    """A CPU has kernels from its vendor, and samples with PyTorch."""
    declared: Declaration = {"sampling_backend": "pytorch"}
    if view.attention_backend is None:
        declared["attention_backend"] = "torch_native" if is_host_cpu_arm64() else "intel_amx"
    return declared


@post_process(
    writes=("attention_backend", "prefill_attention_backend", "decode_attention_backend", "page_size"),
    state=(
        "chunked_prefill_size",
        "cuda_graph_config.decode.max_bs",
        "cuda_graph_config.prefill.tc_compiler",
        "disable_custom_all_reduce",
        "hicache_io_backend",
        "hicache_mem_layout",
    ),
    when=on_device("npu"),
)
def _npu_defaults(view: ResolvedView) -> Declaration:
    """An Ascend NPU has one attention backend, and sizes that depend on the device's memory."""
    declared: Declaration = {
        "attention_backend": "ascend",
        "prefill_attention_backend": "ascend",
        "decode_attention_backend": "ascend",
        "disable_custom_all_reduce": True,
    }
    if view.page_size is None:
        declared["page_size"] = 128

    memory = get_npu_memory_capacity()
    if memory <= 32 * _GIB:
        declared |= _npu_sizes(view, chunk=4096, few_ranks=16, many_ranks=64)
    elif memory <= 64 * _GIB:
        declared |= _npu_sizes(view, chunk=8192, few_ranks=64, many_ranks=256)

    if view.enable_hierarchical_cache:
        declared["hicache_io_backend"] = "kernel_ascend"
        declared["hicache_mem_layout"] = "page_first_kv_split" if view.model.uses_mla else "page_first_direct"
    if view.cuda_graph_config.prefill.tc_compiler is not None:
        declared["cuda_graph_config.prefill.tc_compiler"] = "eager"
    return declared


def _npu_sizes(view: ResolvedView, *, chunk: int, few_ranks: int, many_ranks: int) -> dict[str, Any]:
    sizes: dict[str, Any] = {}
    if view.chunked_prefill_size is None:
        sizes["chunked_prefill_size"] = chunk
    if view.cuda_graph_config.decode.max_bs is None:
        sizes["cuda_graph_config.decode.max_bs"] = few_ranks if view.tp_size < 4 else many_ranks
    return sizes


@post_process(writes=("disable_overlap_schedule",), when=on_device("mps"))
def _mps_overlap_disable(view: ResolvedView) -> Declaration | None:
    """PyTorch on Apple silicon cannot overlap scheduling; MLX has a schedule of its own.

    The original also asks whether MLX is installed. A case does not say which packages are installed, so the pass
    assumes this one.
    """
    return None if envs.SGLANG_USE_MLX.get() else {"disable_overlap_schedule": True}


@post_process(state=("cuda_graph_config.prefill.backend",), when=on_device("xpu"))
def _xpu_prefill_graph_disable(view: ResolvedView) -> Declaration:
    """Intel GPUs cannot capture the graph of a prefill."""
    return {"cuda_graph_config.prefill.backend": Backend.DISABLED}
