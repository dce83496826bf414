"""Slots 9 and 11 to 13: the sampling and attention backends, what these require, and the page size."""

from __future__ import annotations

from harness.world.cuda_graph import Backend
from harness.world.environ import envs
from harness.world.machine import (
    cpu_has_amx_support,
    is_blackwell_supported,
    is_cuda,
    is_flashinfer_available,
    is_hip,
    is_hopper_with_cuda_12_3,
    is_mps,
    is_musa,
    is_sm90_supported,
    is_sm100_supported,
    is_sm120_supported,
    xpu_has_xmx_support,
)
from harness.world.modelview import ModelConfig
from legacy.record.record import Record

WHISPER = "WhisperForConditionalGeneration"


def is_no_spec_infer_or_topk_one(server_args: Record) -> bool:
    """Return whether drafts cannot branch: no top-k is given, or it is 1 and a page has one token.

    A page size that is not given yet counts as one token.
    """
    topk = server_args.speculative_eagle_topk
    return topk is None or (topk == 1 and (server_args.page_size == 1 or server_args.page_size is None))


class AttentionHandlers(Record):
    """Handlers that fill in backends that nobody chose, then adapt other fields to the backends."""

    def _handle_sampling_backend(self) -> None:
        if self.sampling_backend is None:
            self.sampling_backend = "flashinfer" if is_flashinfer_available() else "pytorch"

    def _get_default_attn_backend(self, use_mla_backend: bool, model_config: ModelConfig) -> str:
        """Return the fastest backend for the machine and the kind of attention.

        In 0.5.14 a plug-in platform may name its own; a case has no plug-ins, so that is not ported.
        """
        if WHISPER in model_config.hf_config.architectures:
            return "flashinfer"
        if use_mla_backend:
            return self._default_mla_backend(model_config)
        if is_hopper_with_cuda_12_3() and is_no_spec_infer_or_topk_one(self):
            return "fa3"
        if (
            is_sm100_supported()
            and is_no_spec_infer_or_topk_one(self)
            # trtllm_mha supports only a top-k of 1. If one is not given, a later handler may choose a larger one.
            and (self.speculative_algorithm is None or self.speculative_eagle_topk is not None)
        ):
            return "trtllm_mha"
        if is_hip():
            return "aiter"
        if is_mps():
            return "torch_native"
        return "flashinfer" if is_flashinfer_available() and not model_config.has_attention_sinks else "triton"

    def _default_mla_backend(self, model_config: ModelConfig) -> str:
        if is_hopper_with_cuda_12_3():
            return "fa3"
        if is_sm100_supported():
            return "flashinfer"
        if is_hip():
            # AITER supports only these two numbers of heads.
            return "aiter" if model_config.get_num_kv_heads(self.tp_size) in (16, 128) else "triton"
        return "torch_native" if is_mps() else "triton"

    def _handle_attention_backend_compatibility(self) -> None:
        model_config = self.get_model_config()
        use_mla_backend = self.use_mla_backend()

        if (
            self.prefill_attention_backend is not None
            and self.prefill_attention_backend == self.decode_attention_backend
        ):
            self.attention_backend = self.prefill_attention_backend
        if self.attention_backend is None:
            self.attention_backend = self._get_default_attn_backend(use_mla_backend, model_config)

        if self.attention_backend == "torch_native":
            self._disable_cuda_graphs()
        if self.attention_backend == "flex_attention":
            self._disable_cuda_graphs()
            assert self.speculative_algorithm is None, "flex_attention cannot speculate"
        if (
            model_config.is_encoder_decoder
            and not self.disable_radix_cache
            and WHISPER in model_config.hf_config.architectures
        ):
            # Whisper's encoder pads tokens, so two requests with the same prefix do not have the same cache entries.
            self.disable_radix_cache = True

        self._fit_nvidia_mla_backends()
        self._fit_trtllm_mha()
        if self.attention_backend == "fa3" and self.kv_cache_dtype == "fp8_e5m2":
            self.attention_backend = "triton"
        # The port's first intended difference: 0.5.14 tests only the prefill field here (public fix #28825).
        if (
            (
                self.attention_backend == "fa4"
                or self.decode_attention_backend == "fa4"
                or self.prefill_attention_backend == "fa4"
            )
            and not use_mla_backend
            and is_sm100_supported()
        ):
            self.page_size = 128

        if self.attention_backend == "aiter" and model_config.context_len > 8192:
            # If the user gave None, this raises TypeError, as it does in the original.
            self.mem_fraction_static *= 0.85  # type: ignore[operator]
        self._fit_intel_backends(use_mla_backend)
        self._fit_dual_chunk_attention(model_config)

    def _disable_cuda_graphs(self) -> None:
        self.cuda_graph_config.decode.backend = Backend.DISABLED
        self.cuda_graph_config.prefill.backend = Backend.DISABLED

    def _fit_nvidia_mla_backends(self) -> None:
        """Set the page size to one that the backend for latent attention supports, in the original's order.

        The prefill field counts for cutedsl_mla only. Raises ValueError and AssertionError for a machine, a type of
        the KV cache or a phase that a backend does not support.
        """
        if self.attention_backend == "flashmla" or self.decode_attention_backend == "flashmla":
            self.page_size = 64

        if self.attention_backend == "cutlass_mla" or self.decode_attention_backend == "cutlass_mla":
            self.page_size = 128

        if self.attention_backend == "trtllm_mla" or self.decode_attention_backend == "trtllm_mla":
            if not is_blackwell_supported():
                raise ValueError("trtllm_mla runs on Blackwell (SM100 and SM12x) alone: choose another backend")
            if self.page_size not in (32, 64):
                self.page_size = 64
            if self.kv_cache_dtype not in ("fp8_e4m3", "fp4_e2m1", "bf16", "auto"):
                raise ValueError(f"trtllm_mla has no kernel for a KV cache of {self.kv_cache_dtype}")

        if self.attention_backend == "tokenspeed_mla" or self.decode_attention_backend == "tokenspeed_mla":
            if not is_blackwell_supported():
                raise ValueError("tokenspeed_mla runs on Blackwell (SM100 and SM12x) alone: choose another backend")
            if self.page_size not in (32, 64):
                self.page_size = 64
            if self.kv_cache_dtype != "fp8_e4m3":
                raise ValueError(f"tokenspeed_mla reads a KV cache of fp8_e4m3, not of {self.kv_cache_dtype}")

        if (
            self.attention_backend == "cutedsl_mla"
            or self.decode_attention_backend == "cutedsl_mla"
            or self.prefill_attention_backend == "cutedsl_mla"
        ):
            assert self.prefill_attention_backend != "cutedsl_mla", "cutedsl_mla decodes, it cannot prefill"
            if not is_sm100_supported():
                raise ValueError("cutedsl_mla runs on Blackwell (SM100) alone: choose another backend")
            if self.page_size not in (32, 64):
                self.page_size = 64
            if self.kv_cache_dtype not in ("fp8_e4m3", "bf16", "bfloat16", "auto"):
                raise ValueError(f"cutedsl_mla has no kernel for a KV cache of {self.kv_cache_dtype}")
            if self.prefill_attention_backend is None:
                self.prefill_attention_backend = "trtllm_mla"

    def _fit_trtllm_mha(self) -> None:
        if (
            self.attention_backend == "trtllm_mha"
            or self.decode_attention_backend == "trtllm_mha"
            or self.prefill_attention_backend == "trtllm_mha"
        ):
            # Here an empty name is a backend of its own; for `get_attention_backends` it would count as none.
            prefill = (
                self.attention_backend if self.prefill_attention_backend is None else (self.prefill_attention_backend)
            )
            if prefill == "trtllm_mha" and not is_sm100_supported():
                raise ValueError("trtllm_mha prefills on Blackwell (SM100) alone: choose another prefill backend")
            decode = (
                self.attention_backend if self.decode_attention_backend is None else (self.decode_attention_backend)
            )
            if decode == "trtllm_mha" and not (is_sm90_supported() or is_sm100_supported() or is_sm120_supported()):
                raise ValueError("trtllm_mha decodes on SM90, SM100 and SM120 alone: choose another decode backend")
            if self.page_size not in (16, 32, 64):
                self.page_size = 64

    def _fit_intel_backends(self, use_mla_backend: bool) -> None:
        if self.attention_backend == "intel_amx" and self.device == "cpu" and not cpu_has_amx_support():
            self.attention_backend = "torch_native"
        if self.attention_backend == "intel_xpu" and self.device == "xpu" and not xpu_has_xmx_support():
            self.attention_backend = "triton"

        prefill_backend, decode_backend = self.get_attention_backends()
        if use_mla_backend and prefill_backend == "intel_xpu":
            raise ValueError("intel_xpu decodes latent attention and cannot prefill it: choose triton for prefill")
        if decode_backend == "intel_xpu":
            page_sizes = (16, 32, 64, 128) if use_mla_backend else (64, 128)
            if self.page_size not in page_sizes:
                self.page_size = 128

    def _fit_dual_chunk_attention(self, model_config: ModelConfig) -> None:
        if model_config.hf_config.dual_chunk_attention_config is not None:
            if self.attention_backend is None:  # never true: this handler has chosen one before
                self.attention_backend = "dual_chunk_flash_attn"  # unreachable: this handler has chosen one before
            elif self.attention_backend != "dual_chunk_flash_attn":
                raise ValueError(
                    f"the model attends in dual chunks, which needs dual_chunk_flash_attn and not "
                    f"{self.attention_backend}"
                )
        if self.attention_backend == "dual_chunk_flash_attn":
            self.enable_mixed_chunk = False
            self.disable_radix_cache = True

    def _handle_kv4_compatibility(self) -> None:
        if self.kv_cache_dtype != "fp4_e2m1":
            return
        if not is_cuda():
            raise RuntimeError("a KV cache of fp4_e2m1 was tried on CUDA alone")
        use_mla_backend = self.use_mla_backend()
        prefill_backend, decode_backend = self.get_attention_backends()
        accepted: tuple[str, ...]
        if prefill_backend == "fa4":
            accepted = (
                ("cutlass_mla", "flashinfer", "trtllm_mla")
                if use_mla_backend
                else ("triton", "torch_native", "flex_attention")
            )
            assert decode_backend in accepted, f"a 4-bit KV cache filled by fa4 is read by {accepted} alone"
        elif prefill_backend == decode_backend:
            accepted = (
                ("cutlass_mla", "flashinfer", "trtllm_mla", "flashmla")
                if use_mla_backend
                else ("triton", "torch_native", "flex_attention", "trtllm_mha")
            )
            assert self.attention_backend in accepted, f"a 4-bit KV cache is read by {accepted} alone"

    def _handle_page_size(self) -> None:
        if self.page_size is None:
            # Only ROCm has kernels that read this layout; elsewhere the variable has no effect.
            if is_hip() and envs.SGLANG_AITER_KV_CACHE_LAYOUT.get().lower() == "vectorized_5d":
                self.page_size = 64
            elif not is_musa():
                self.page_size = 1
            else:
                self.page_size = 64
