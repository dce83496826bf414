"""The branches of DeepSeek V3, V3.2 (sparse attention) and V4, and of other makers' models built like these."""

from __future__ import annotations

from harness.world.cuda_graph import Backend
from harness.world.environ import envs
from harness.world.machine import (
    aiter_can_use_preshuffle_paged_mqa,
    get_device_capability,
    has_fp8_weights_in_checkpoint,
    is_hip,
    is_npu,
    is_sm100_supported,
    is_sm120_supported,
    is_xpu,
)
from harness.world.modelfacts import get_quantization_config, is_deepseek_dsa
from harness.world.modelview import HFConfig
from legacy.handlers.dsa import DsaHandlers
from legacy.handlers.hooks import validate_deepseek_v4_cp

DEEPSEEK_V3_ARCHITECTURES = (
    "DeepseekV3ForCausalLM",
    "DeepseekV32ForCausalLM",
    "KimiK25ForConditionalGeneration",
    "MistralLarge3ForCausalLM",
    "PixtralForConditionalGeneration",
    "GlmMoeDsaForCausalLM",
)

_INT4_WEIGHTS = (("num_bits", 4), ("group_size", 32), ("strategy", "group"), ("type", "int"))


def is_kimi_k2_int4(hf_config: HFConfig) -> bool:
    """Return whether the weights are in the INT4 format in which Kimi K2 Thinking and K2.5 are published."""
    declared = hf_config.quantization_config or {}
    weights = declared.get("config_groups", {}).get("group_0", {}).get("weights", {})
    return get_quantization_config(hf_config) == "compressed-tensors" and all(
        weights.get(key) == value for key, value in _INT4_WEIGHTS
    )


class DeepseekFamily(DsaHandlers):
    """The branches of the DeepSeek architectures."""

    def _adjust_deepseek(self, model_arch: str, hf_config: HFConfig) -> None:
        if is_deepseek_dsa(hf_config):
            self._adjust_deepseek_dsa(hf_config)
        else:
            self._adjust_deepseek_mla()
        if is_sm100_supported():
            self._choose_deepseek_experts(model_arch, hf_config)
        elif is_hip():
            self._choose_draft_experts()

    def _adjust_deepseek_dsa(self, hf_config: HFConfig) -> None:
        threshold = envs.SGLANG_DSA_PREFILL_DENSE_ATTN_KV_LEN_THRESHOLD
        if not threshold.is_set():
            threshold.set(hf_config.index_topk)
        if self.is_attention_backend_not_set():
            self.attention_backend = "dsa"

        pattern = hf_config.index_topk_pattern
        shares_topk = (hf_config.index_topk_freq or 1) > 1 or (pattern is not None and "S" in pattern)
        if self.enable_two_batch_overlap and shares_topk:
            raise ValueError("layers that share their top-k indices cannot run as two overlapping batches")

        if not is_npu() and not is_xpu():
            if self.enable_prefill_cp:
                self._split_dsa_context()
            if is_hip() and not aiter_can_use_preshuffle_paged_mqa():
                self.page_size = 1
            else:
                self.page_size = 64
            major, _ = get_device_capability()
            # The quantization is passed because the original does so; neither uses it.
            self._set_default_dsa_kv_cache_dtype(major, self.quantization)  # type: ignore[arg-type]
            self._set_default_dsa_backends(self.kv_cache_dtype, major)  # type: ignore[arg-type]

        if self.enable_prefill_cp:
            assert self.disaggregation_mode != "decode", "a decode server has no prefill whose context could be split"

    def _split_dsa_context(self) -> None:
        self.enable_dp_attention = True
        self.moe_dense_tp_size = 1
        if self.cp_strategy == "zigzag":
            self.moe_a2a_backend = "deepep"
            self.ep_size = self.tp_size
        else:
            assert self.dp_size == 1, "an interleaved context leaves no rank for data parallel attention"
        assert self.tp_size <= 8, "context parallelism stays within one machine of 8 devices"
        self.attn_cp_size = self.tp_size // self.dp_size
        self.cuda_graph_config.prefill.backend = Backend.DISABLED

    def _adjust_deepseek_mla(self) -> None:
        if is_sm100_supported() and self.is_attention_backend_not_set():
            self.attention_backend = "trtllm_mla"
        if self.enable_prefill_cp and self.use_mla_backend():
            self.enable_dp_attention = True
            self.moe_dense_tp_size = 1
            self.moe_a2a_backend = "deepep"
            self.ep_size = self.tp_size
            self.attn_cp_size = self.tp_size // self.dp_size
            self.cuda_graph_config.prefill.backend = Backend.DISABLED

    def _choose_deepseek_experts(self, model_arch: str, hf_config: HFConfig) -> None:
        is_int4 = is_kimi_k2_int4(hf_config)
        if self.quantization is None and not self._quantization_explicitly_unset:
            quant_method = get_quantization_config(hf_config)
            if quant_method is None and model_arch == "DeepseekV3ForCausalLM":
                # DeepSeek V3's config does not say that its experts are FP8, and other models of this architecture
                # are BF16. Only the weights show which it is.
                if has_fp8_weights_in_checkpoint(self.model_path):
                    self.quantization = "fp8"
            else:
                self.quantization = quant_method
        if (
            self.moe_a2a_backend == "none"
            and self.moe_runner_backend == "auto"
            and (
                self.quantization in ("fp8", "modelopt_fp8", "modelopt_fp4", "modelopt_mixed")
                or is_int4
                or self.quantization is None
            )
        ):
            self.moe_runner_backend = "flashinfer_trtllm"

    def _choose_draft_experts(self) -> None:
        """Choose the expert kernels of the draft layer on ROCm, for an FP4 checkpoint: that layer is BF16 or FP8.

        Raises ValueError for a draft layer over deepep without expert parallelism.
        """
        if (
            self.quantization == "modelopt_fp4"
            and self.speculative_algorithm == "EAGLE"
            and (self.speculative_moe_runner_backend is None or self.speculative_moe_a2a_backend is None)
        ):
            if envs.SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE.get():
                self.speculative_moe_runner_backend = "deep_gemm"
                self.speculative_moe_a2a_backend = "deepep"
                if self.ep_size == 1:
                    raise ValueError("a draft layer over deepep needs expert parallelism: set ep_size above 1")
            else:
                self.speculative_moe_runner_backend = "triton"
                self.speculative_moe_a2a_backend = "none"

    def _adjust_deepseek_v4(self) -> None:
        validate_deepseek_v4_cp(self)
        if is_sm120_supported():
            if self.moe_runner_backend == "auto":
                self.moe_runner_backend = "marlin"
            # Turn off the kernels that need tensor memory, or more shared memory than SM120 has.
            envs.SGLANG_OPT_FP8_WO_A_GEMM.set(False)
            envs.SGLANG_OPT_USE_TOPK_V2.set(False)
            envs.SGLANG_OPT_USE_TILELANG_MHC_PRE.set(False)
            envs.SGLANG_OPT_DEEPGEMM_HC_PRENORM.set(False)
            envs.SGLANG_FP8_PAGED_MQA_LOGITS_TORCH.set(True)
        elif is_hip():
            for kernel in (
                envs.SGLANG_OPT_DEEPGEMM_HC_PRENORM,
                envs.SGLANG_OPT_FP8_WO_A_GEMM,
                envs.SGLANG_OPT_USE_JIT_INDEXER_METADATA,
                envs.SGLANG_OPT_USE_TOPK_V2,
                envs.SGLANG_OPT_USE_TILELANG_MHC_PRE,
                envs.SGLANG_OPT_USE_TILELANG_MHC_POST,
                envs.SGLANG_OPT_USE_MULTI_STREAM_OVERLAP,
            ):
                kernel.set(False)
            for kernel in (
                envs.SGLANG_OPT_USE_FUSED_COMPRESS,
                envs.SGLANG_OPT_USE_AITER_INDEXER,
                envs.SGLANG_FP8_PAGED_MQA_LOGITS_TORCH,
                envs.SGLANG_EAGER_INPUT_NO_COPY,
            ):
                kernel.set(True)
