"""Slots 15 and 16: the kernels that run the experts, and the backend over which experts exchange tokens."""

from __future__ import annotations

from harness.world.cuda_graph import Backend
from harness.world.environ import envs
from harness.world.machine import is_sm100_supported, is_sm120_supported
from legacy.record.record import Record


class MoeHandlers(Record):
    """Handlers that check, for the chosen kernels and the chosen exchange, what they need of other fields."""

    def _handle_moe_kernel_config(self) -> None:
        if self.quantization == "nvfp4_online":
            if not is_sm100_supported():
                raise ValueError("nvfp4_online quantizes on Blackwell (SM100 and SM103) alone")
            if self.moe_runner_backend == "auto":
                self.moe_runner_backend = "flashinfer_trtllm"
            elif self.moe_runner_backend not in ("flashinfer_trtllm", "flashinfer_trtllm_routed"):
                raise ValueError(
                    f"nvfp4_online has no experts in {self.moe_runner_backend}, only in flashinfer_trtllm"
                )
        if self.quantization == "mxfp8":
            if self.moe_runner_backend == "auto":  # noqa: SIM114  (two writes in the original, with two reasons)
                self.moe_runner_backend = "flashinfer_trtllm"
            elif self.moe_runner_backend not in ("cutlass", "flashinfer_trtllm", "flashinfer_trtllm_routed"):
                self.moe_runner_backend = "flashinfer_trtllm"
        if self.moe_runner_backend == "auto" and self.quantization == "modelopt_fp4" and is_sm120_supported():
            self.moe_runner_backend = "flashinfer_cutlass"

        self._fit_flashinfer_experts()

        if envs.SGLANG_CUTLASS_MOE.get():
            assert self.quantization in ("fp8", "mxfp8"), "SGLANG_CUTLASS_MOE is for fp8 and mxfp8 experts alone"
            self.moe_runner_backend = "cutlass"
        if self.moe_runner_backend == "cutlass" and self.quantization in ("fp8", "mxfp8"):
            assert self.ep_size == 1, "cutlass keeps all experts on every rank: set ep_size to 1"

    def _fit_flashinfer_experts(self) -> None:
        if self.moe_runner_backend == "flashinfer_cutlass":
            self._check_quantization("modelopt_fp4", "modelopt_fp8", "modelopt_mixed", None)
            self._check_expert_ranks()

        if self.moe_runner_backend == "flashinfer_cutedsl":
            self._check_quantization("modelopt_fp4")
            self._check_expert_ranks()
            assert self.moe_a2a_backend in ("none", "deepep", "flashinfer"), (
                f"flashinfer_cutedsl cannot take tokens from {self.moe_a2a_backend}"
            )
            self.disable_shared_experts_fusion = True

        if self.moe_runner_backend in ("flashinfer_trtllm", "experimental_sgl_trtllm"):
            self._check_quantization(
                "modelopt_fp4",
                "nvfp4_online",
                "fp8",
                "mxfp8",
                "modelopt_fp8",
                "modelopt_mixed",
                "compressed-tensors",
                None,
            )
            self.disable_shared_experts_fusion = True

        if self.moe_runner_backend == "flashinfer_trtllm_routed":
            self._check_quantization("fp8", "mxfp8", "modelopt_fp4", "nvfp4_online", None)
            self.disable_shared_experts_fusion = True

    def _check_quantization(self, *accepted: str | None) -> None:
        assert self.quantization in accepted, f"{self.moe_runner_backend} has no experts in {self.quantization}"

    def _check_expert_ranks(self) -> None:
        assert self.ep_size in (1, self.tp_size), (
            f"{self.moe_runner_backend} splits experts over all {self.tp_size} ranks or none, not over {self.ep_size}"
        )

    def _handle_a2a_moe(self) -> None:
        if self.enable_deepep_waterfill and self.moe_a2a_backend != "deepep":
            self.moe_a2a_backend = "deepep"
        if envs.SGLANG_OPT_USE_DEEPGEMM_MEGA_MOE.get() and self.moe_a2a_backend != "megamoe":
            self.moe_a2a_backend = "megamoe"

        if self.moe_a2a_backend == "megamoe":
            self.ep_size = self.tp_size
            if not envs.SGLANG_OPT_FIX_MEGA_MOE_MEMORY.is_set():
                envs.SGLANG_OPT_FIX_MEGA_MOE_MEMORY.set(True)
        if self.moe_a2a_backend == "deepep":
            if self.deepep_mode == "normal":
                self.cuda_graph_config.decode.backend = Backend.DISABLED
                self.cuda_graph_config.prefill.backend = Backend.DISABLED
            self.ep_size = self.tp_size
            if self.enable_deepep_waterfill:
                if self.disable_shared_experts_fusion:
                    self.disable_shared_experts_fusion = False
                self.enforce_shared_experts_fusion = True
        if self.moe_a2a_backend == "mooncake":
            self.ep_size = self.tp_size
        if self.moe_a2a_backend == "nixl":
            self.ep_size = self.tp_size
        if self.moe_a2a_backend == "ascend_fuseep":
            self.ep_size = self.tp_size
            self._check_npu_fused_moe()
        if self.moe_a2a_backend == "flashinfer":
            assert self.enable_dp_attention and self.dp_size == self.tp_size, (
                "flashinfer exchanges tokens between data parallel ranks: enable dp attention, dp_size as tp_size"
            )
            self.ep_size = self.tp_size
            self.disable_shared_experts_fusion = True
            if not envs.SGLANG_MOE_NVFP4_DISPATCH.is_set():
                envs.SGLANG_MOE_NVFP4_DISPATCH.set(True)
            assert self.moe_runner_backend in ("flashinfer_cutlass", "flashinfer_cutedsl"), (
                f"flashinfer cannot hand tokens to {self.moe_runner_backend}"
            )
        if self.moe_a2a_backend == "mori":
            self.ep_size = self.tp_size
            self._check_mori()

    def _check_npu_fused_moe(self) -> None:
        mode = envs.SGLANG_NPU_FUSED_MOE_MODE.get()
        if mode not in (1, 2):
            raise ValueError(f"SGLANG_NPU_FUSED_MOE_MODE is 1 or 2, not {mode}")
        if mode == 2:
            assert self.quantization == "modelslim", "SGLANG_NPU_FUSED_MOE_MODE=2 is for modelslim alone"

    def _check_mori(self) -> None:
        if self.deepep_mode == "auto":
            self.deepep_mode = "normal"
        # If the user gave None, this raises TypeError, as it does in the original.
        if self.chunked_prefill_size > 0 and self.disaggregation_mode != "decode":  # type: ignore[operator]
            limit = envs.SGLANG_MORI_NUM_MAX_DISPATCH_TOKENS_PER_RANK.get()
            assert self.chunked_prefill_size <= limit, (  # type: ignore[operator]
                f"a prefill chunk of {self.chunked_prefill_size} tokens exceeds "
                f"SGLANG_MORI_NUM_MAX_DISPATCH_TOKENS_PER_RANK ({limit})"
            )
