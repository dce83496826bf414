"""Slots 2 to 6: the defaults and limits of each platform other than CUDA and ROCm."""

from __future__ import annotations

from harness.world.cuda_graph import Backend
from harness.world.environ import envs
from harness.world.machine import is_host_cpu_arm64
from legacy.handlers.hooks import set_default_server_args
from legacy.record.record import Record


class PlatformHandlers(Record):
    """One handler for each platform. Each tests the argument ``device``, not what the machine really is."""

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
            if prefill.tc_compiler is not None:  # never false: its default is "eager", and no drawn case sets null
                prefill.tc_compiler = "eager"

    def _handle_mps_backends(self) -> None:
        # With MLX the schedule stays as it is. The original also asks whether the package mlx is installed. A case
        # does not say which packages are installed, so the port assumes this one.
        if self.device == "mps" and not envs.SGLANG_USE_MLX.get():
            self.disable_overlap_schedule = True

    def _handle_xpu_backends(self) -> None:
        if self.device == "xpu":
            self.cuda_graph_config.prefill.backend = Backend.DISABLED
