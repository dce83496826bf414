"""Families without state layers: GPT-OSS, MiMo, Step-3, Llama 4, Gemma, Moss-VL, EXAONE, OLMo, GLM-4, MiniMax."""

from __future__ import annotations

from harness.world.environ import envs
from harness.world.machine import (
    cpu_has_amx_support,
    get_device_sm,
    get_nvidia_driver_version,
    is_blackwell_supported,
    is_cpu,
    is_cuda,
    is_hip,
    is_musa,
    is_sm90_supported,
    is_sm100_supported,
    is_sm120_supported,
    is_triton_kernels_available,
    is_xpu,
)
from harness.world.modelfacts import get_mimo_v2_fused_qkv_expected_tp_size, get_quantization_config
from harness.world.modelview import HFConfig
from legacy.record.record import Record

MIMO_V2_MODEL_ARCHS = ("MiMoV2ForCausalLM", "MiMoV2FlashForCausalLM")
LLAMA4_MODEL_ARCHS = ("Llama4ForConditionalGeneration", "Llama4ForCausalLM")
GEMMA_ARCHITECTURES = (
    "Gemma2ForCausalLM",
    "Gemma3ForCausalLM",
    "Gemma3ForConditionalGeneration",
    "Gemma3nForCausalLM",
    "Gemma3nForConditionalGeneration",
)
GEMMA4_ARCHITECTURES = (
    "Gemma4ForConditionalGeneration",
    "Gemma4ForCausalLM",
    "Gemma4UnifiedForConditionalGeneration",
)
GPT_OSS_BACKENDS = ("triton", "trtllm_mha", "fa3", "fa4", "ascend", "intel_amx", "intel_xpu", "aiter")


class TransformerFamilies(Record):
    """One method for each family's branch, in the original's order."""

    def _adjust_gpt_oss(self, hf_config: HFConfig) -> None:
        if self.is_attention_backend_not_set():
            self._choose_gpt_oss_attention()
        if is_xpu() and self.dtype not in ("auto", "bfloat16"):
            raise NotImplementedError(f"GPT-OSS runs as bfloat16 on Intel XPU, not as {self.dtype}")
        prefill_backend, decode_backend = self.get_attention_backends()
        assert prefill_backend in GPT_OSS_BACKENDS and decode_backend in GPT_OSS_BACKENDS, (
            f"GPT-OSS attends with one of {GPT_OSS_BACKENDS}, not with {prefill_backend} and {decode_backend}"
        )

        is_mxfp4 = get_quantization_config(hf_config) == "mxfp4"
        if is_mxfp4:
            self.dtype = "bfloat16"
        if self.moe_runner_backend == "auto":
            self._choose_gpt_oss_experts(is_mxfp4)
        if self.moe_runner_backend == "triton_kernel":
            assert self.ep_size == 1, "triton_kernel keeps all experts on every rank: set ep_size to 1"

    def _choose_gpt_oss_attention(self) -> None:
        if is_sm100_supported():
            self.attention_backend = "trtllm_mha"
        elif is_sm90_supported():
            self.attention_backend = "fa3"
        elif is_cpu() and cpu_has_amx_support():
            self.attention_backend = "intel_amx"
        elif is_xpu():
            self.attention_backend = "intel_xpu"
        elif is_hip():
            self.attention_backend = "aiter"
        else:
            self.attention_backend = "triton"

    def _choose_gpt_oss_experts(self, is_mxfp4: bool) -> None:
        uses_aiter = is_hip() and envs.SGLANG_USE_AITER.get()
        if is_sm100_supported() and is_mxfp4:
            self.moe_runner_backend = "flashinfer_mxfp4"
        elif is_sm120_supported() and is_mxfp4:
            self.moe_runner_backend = "marlin"
        elif uses_aiter and is_mxfp4:
            # "auto" makes the layers use AITER in this case. The write changes nothing, but the original has it.
            self.moe_runner_backend = "auto"
        elif uses_aiter:
            # AITER does not support all the matrix shapes of a BF16 checkpoint.
            self.moe_runner_backend = "triton"
        elif is_musa() and envs.SGLANG_DEEPEP_BF16_DISPATCH.get():
            self.moe_runner_backend = "deep_gemm"
        elif (
            self.ep_size == 1
            and is_triton_kernels_available()
            and self.quantization is None
            and not (is_cpu() and cpu_has_amx_support())
        ):
            # From this driver on, triton_kernels crashes on Blackwell.
            if is_blackwell_supported() and get_nvidia_driver_version() >= (595,):
                self.moe_runner_backend = "triton"
            else:
                self.moe_runner_backend = "triton_kernel"

    def _adjust_mimo_v2(self, model_arch: str, hf_config: HFConfig) -> None:
        if model_arch == "MiMoV2ForCausalLM" and not self.encoder_only:
            expected = get_mimo_v2_fused_qkv_expected_tp_size(hf_config)
            attn_dp_size = self.dp_size if self.enable_dp_attention else 1
            # Computed first, as in the original: 0 ranks raise ZeroDivisionError even if no number is expected.
            ranks = self.tp_size // attn_dp_size // self.attn_cp_size
            if expected is not None and ranks != expected:
                raise ValueError(
                    f"the fused QKV weights are laid out for {expected} attention ranks, and there are {ranks}: "
                    "change tp_size, dp_size, enable_dp_attention or attn_cp_size"
                )
        if self.speculative_algorithm == "EAGLE":
            self.enable_multi_layer_eagle = True
        if self.enable_hierarchical_cache and not envs.SGLANG_ENABLE_UNIFIED_RADIX_TREE.get():
            raise ValueError(
                "MiMo-V2 has a hierarchical cache with the unified radix tree alone: "
                "set SGLANG_ENABLE_UNIFIED_RADIX_TREE=1"
            )

    def _adjust_step3p(self) -> None:
        if self.is_attention_backend_not_set():
            if is_blackwell_supported():
                self.attention_backend = "fa4"
            elif is_sm90_supported():
                self.attention_backend = "fa3"
        if self.speculative_algorithm == "EAGLE":
            self.enable_multi_layer_eagle = True
        if self.enable_hierarchical_cache:
            self.swa_full_tokens_ratio = 1.0
            self.disable_hybrid_swa_memory = True

    def _adjust_llama4(self) -> None:
        if self.attention_backend is None:
            if is_sm100_supported():
                self.attention_backend = "trtllm_mha"
            elif is_sm90_supported():
                self.attention_backend = "fa3"
            elif is_hip():
                self.attention_backend = "aiter"
            elif self.device == "xpu":
                self.attention_backend = "intel_xpu"
            else:
                self.attention_backend = "triton"
        accepted = ("fa3", "aiter", "triton", "ascend", "trtllm_mha", "intel_xpu")
        assert self.attention_backend in accepted, (
            f"Llama 4 attends with one of {accepted}, not with {self.attention_backend}"
        )
        if (
            is_sm100_supported()
            and self.moe_runner_backend == "auto"
            and self.quantization in ("fp8", "modelopt_fp8")
        ):
            self.moe_runner_backend = "flashinfer_trtllm"

    def _adjust_gemma(self) -> None:
        self.disable_hybrid_swa_memory = True

    def _adjust_gemma4(self) -> None:
        default = "trtllm_mha" if is_sm100_supported() else "triton"
        if self.is_attention_backend_not_set():
            self.attention_backend = default
        elif self.attention_backend is None:
            # The user chose the backend of one phase. The other phase must not get one that the model cannot use.
            self.attention_backend = default
        prefill_backend, decode_backend = self.get_attention_backends()
        accepted = ("trtllm_mha", "triton", "ascend", "intel_xpu")
        assert prefill_backend in accepted and decode_backend in accepted, (
            f"Gemma 4 attends with one of {accepted}, not with {prefill_backend} and {decode_backend}"
        )
        if (
            is_sm100_supported()
            and self.moe_runner_backend == "auto"
            and self.get_model_config().quantization == "modelopt_fp4"
        ):
            self.quantization = "modelopt_fp4"
            self.moe_runner_backend = "flashinfer_trtllm"

    def _adjust_moss_vl(self) -> None:
        if self.is_attention_backend_not_set():
            self.prefill_attention_backend = "flashinfer"
        prefill_backend, _ = self.get_attention_backends()
        assert prefill_backend == "flashinfer", (
            "Moss-VL masks its cross attention, and flashinfer alone prefills that"
        )

    def _adjust_exaone(self, hf_config: HFConfig) -> None:
        if hf_config.sliding_window_pattern is not None:
            self.disable_hybrid_swa_memory = True
            accepted = ("fa3", "triton", "trtllm_mha")
            assert self.attention_backend in accepted, (
                f"EXAONE's sliding windows need one of {accepted}, not {self.attention_backend}"
            )

    def _adjust_olmo(self) -> None:
        self.disable_hybrid_swa_memory = True
        if self.attention_backend is None:
            if is_cuda() and is_sm100_supported():
                self.attention_backend = "trtllm_mha"
            elif is_cuda() and get_device_sm() >= 80:
                self.attention_backend = "fa3"
            else:
                self.attention_backend = "triton"
        assert self.attention_backend != "flashinfer", "flashinfer is too slow for OLMo's sliding windows"

    def _adjust_glm4_moe(self, hf_config: HFConfig) -> None:
        if not is_sm100_supported():
            return
        quant_method = get_quantization_config(hf_config)
        if self.quantization is None and not self._quantization_explicitly_unset and quant_method is not None:
            self.quantization = quant_method
        if (
            self.quantization == "modelopt_fp4"
            and self.moe_a2a_backend == "none"
            and self.moe_runner_backend == "auto"
        ):
            self.moe_runner_backend = "flashinfer_trtllm"

    def _adjust_minimax_m2(self) -> None:
        # The port's second intended difference: 0.5.14 does not have this field.
        self.enable_tf32_matmul = True
