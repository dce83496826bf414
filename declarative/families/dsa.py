"""DeepSeek's sparse attention: the type of the KV cache, and the kernels of prefill and decode.

``major`` is the first number of the device's compute capability. If the device has none, ``major`` is None, and
comparing it raises TypeError, as it does in the original.
"""

from __future__ import annotations

from declarative.engine.steps import Declaration, post_process
from declarative.engine.view import ResolvedView
from declarative.families.deepseek_v3 import is_sparse
from harness.world.machine import get_device_capability, is_hip, is_npu, is_xpu


@post_process(writes=("kv_cache_dtype",), when=is_sparse)
def _dsa_kv_cache_dtype_default(view: ResolvedView) -> Declaration | None:
    """Sparse attention keeps its KV cache as fp8_e4m3 from SM100 on, as bfloat16 before.

    Raises AssertionError for any other type.
    """
    if is_npu() or is_xpu():
        return None
    dtype = given = view.kv_cache_dtype
    if dtype == "auto":
        major, _ = get_device_capability()
        dtype = "fp8_e4m3" if major >= 10 else "bfloat16"  # type: ignore[operator]
    elif dtype == "bf16":
        dtype = "bfloat16"
    assert dtype in ("bfloat16", "fp8_e4m3"), (
        f"sparse attention keeps its KV cache as bfloat16 or fp8_e4m3, not as {dtype}"
    )
    return None if dtype == given else {"kv_cache_dtype": dtype}


@post_process(writes=("dsa_prefill_backend", "dsa_decode_backend"), when=is_sparse)
def _dsa_split_backend_resolution(view: ResolvedView) -> Declaration | None:
    """Each machine has its own sparse kernels for a phase, and they depend on the type of the KV cache."""
    if is_npu() or is_xpu():
        return None
    prefill_unset, decode_unset = view.dsa_prefill_backend is None, view.dsa_decode_backend is None
    prefill, decode = _split_backends(view, prefill_unset and decode_unset)
    declared: Declaration = {}
    if prefill_unset:
        declared["dsa_prefill_backend"] = prefill
    if decode_unset:
        declared["dsa_decode_backend"] = decode
    return declared


def _split_backends(view: ResolvedView, both_unset: bool) -> tuple[str, str]:
    is_fp8 = view.kv_cache_dtype == "fp8_e4m3"
    if view.enable_hisparse:
        backend = "tilelang" if is_hip() else "flashmla_kv" if is_fp8 else "flashmla_sparse"
        return backend, backend
    if both_unset and is_hip():
        return "tilelang", "tilelang"
    major, _ = get_device_capability()
    if is_fp8:
        backend = "trtllm" if major >= 10 else "flashmla_kv"  # type: ignore[operator]
        return backend, backend
    return "flashmla_sparse", "trtllm" if major >= 10 else "fa3"  # type: ignore[operator]
