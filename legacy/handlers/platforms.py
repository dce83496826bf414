"""Slots 2 to 6: what a platform other than CUDA and ROCm demands before anything else is decided."""

from __future__ import annotations

from harness.world.cuda_graph import Backend
from harness.world.environ import envs
from harness.world.machine import is_host_cpu_arm64
from legacy.handlers.hooks import set_default_server_args
from legacy.record.record import Record


class PlatformHandlers(Record):
    """One handler a platform; each looks at ``device`` and not at the machine."""

    def _handle_hpu_backends(self) -> None:
        if self.device == "hpu":
            self.attention_backend = "torch_native"
            self.sampling_backend = "pytorch"

    def _handle_cpu_backends(self) -> None:
        if self.device == "cpu":
            if self.attention_backend is None:
                self.attention_backend = "torch_native" if is_host_cpu_arm64() else "intel_amx"
            self.sampling_backend = "pytorch"

    def _handle_npu_backends(self) -> None:
        if self.device == "npu":
            set_default_server_args(self)
            prefill = self.cuda_graph_config.prefill
            if prefill.tc_compiler is not None:  # never false: without a word it is inductor
                prefill.tc_compiler = "eager"

    def _handle_mps_backends(self) -> None:
        # MLX has a schedule of its own. A case does not describe which packages are installed: MLX is assumed to be.
        if self.device == "mps" and not envs.SGLANG_USE_MLX.get():
            self.disable_overlap_schedule = True

    def _handle_xpu_backends(self) -> None:
        if self.device == "xpu":
            self.cuda_graph_config.prefill.backend = Backend.DISABLED
