"""DeepSeek's sparse attention: the type of the KV cache, and the kernels of prefill and decode."""

from __future__ import annotations

from harness.world.machine import is_hip
from legacy.handlers.hooks import apply_hisparse_dsa_backend_defaults
from legacy.record.record import Record


class DsaHandlers(Record):
    """Helpers of the branch for sparse attention in `legacy.handlers.deepseek`.

    ``major`` is the first number of the device's compute capability. If the device has none, ``major`` is None, and
    comparing it raises TypeError, as it does in the original.
    """

    def _set_default_dsa_kv_cache_dtype(self, major: int, quantization: str | None) -> None:
        if self.kv_cache_dtype == "auto":
            if major >= 10:
                self.kv_cache_dtype = "fp8_e4m3"
            else:
                self.kv_cache_dtype = "bfloat16"
        if self.kv_cache_dtype == "bf16":
            self.kv_cache_dtype = "bfloat16"
        assert self.kv_cache_dtype in ("bfloat16", "fp8_e4m3"), (
            f"sparse attention keeps its KV cache as bfloat16 or fp8_e4m3, not as {self.kv_cache_dtype}"
        )

    def _set_default_dsa_backends(self, kv_cache_dtype: str, major: int) -> None:
        user_set_prefill = self.dsa_prefill_backend is not None
        user_set_decode = self.dsa_decode_backend is not None
        if apply_hisparse_dsa_backend_defaults(self, user_set_prefill, user_set_decode, kv_cache_dtype):
            return

        if not user_set_prefill and not user_set_decode and is_hip():
            self.dsa_prefill_backend = "tilelang"
            self.dsa_decode_backend = "tilelang"
        elif kv_cache_dtype == "fp8_e4m3":
            if major >= 10:
                if not user_set_prefill:
                    self.dsa_prefill_backend = "trtllm"
                if not user_set_decode:
                    self.dsa_decode_backend = "trtllm"
            else:
                if not user_set_prefill:
                    self.dsa_prefill_backend = "flashmla_kv"
                if not user_set_decode:
                    self.dsa_decode_backend = "flashmla_kv"
        elif major >= 10:
            if not user_set_prefill:
                self.dsa_prefill_backend = "flashmla_sparse"
            if not user_set_decode:
                self.dsa_decode_backend = "trtllm"
        else:
            if not user_set_prefill:
                self.dsa_prefill_backend = "flashmla_sparse"
            if not user_set_decode:
                self.dsa_decode_backend = "fa3"
