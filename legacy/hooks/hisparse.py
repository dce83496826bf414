"""Sparse attention over a hierarchical cache; the original is ``arg_groups/hisparse_hook.py`` (0.5.14)."""

from __future__ import annotations

from harness.world.machine import is_hip
from legacy.record import Record


def _hisparse_default_backend(kv_cache_dtype: str) -> str:
    if is_hip():
        return "tilelang"
    return "flashmla_kv" if kv_cache_dtype == "fp8_e4m3" else "flashmla_sparse"


def apply_hisparse_dsa_backend_defaults(
    server_args: Record, user_set_prefill: bool, user_set_decode: bool, kv_cache_dtype: str
) -> bool:
    """Choose the sparse attention kernels if HiSparse is on, and return whether it is."""
    if not server_args.enable_hisparse:
        return False
    backend = _hisparse_default_backend(kv_cache_dtype)
    if not user_set_prefill:
        server_args.dsa_prefill_backend = backend
    if not user_set_decode:
        server_args.dsa_decode_backend = backend
    return True
