"""The current case as a package in this repository sees it: probes without arguments, under the original's names.

A release gets stand-ins for the probes in its child process. `legacy` and `declarative` get none: they import the
probes from here, call them as sglang calls its own, and get the answers of the case that `simulated` made current.
The rules are those of `harness.world.probes`. Here each is only bound to the current machine or checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from harness.world import probes
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.modelview import ModelConfig

Answer = TypeVar("Answer")

_WATCHED = ("SGLANG_", "NCCL_")


class OutsideCase(RuntimeError):
    """Raised if the machine, the model or the environment is asked for while no case is current."""


class Machine:
    """One case while it is being resolved.

    ``env`` is a copy of the case's environment, which the resolution may change.
    """

    __slots__ = ("_given", "_model_config", "env", "hardware", "model")

    def __init__(self, case: Case) -> None:
        self.hardware: Hardware = case.hardware
        self.model: Model = case.model
        self.env: dict[str, str] = dict(case.env)
        self._given = case.env
        self._model_config: ModelConfig | None = None

    @property
    def model_config(self) -> ModelConfig:
        """The model's configuration as handlers read it; made at the first use, then always the same object."""
        if self._model_config is None:
            self._model_config = ModelConfig(self.model)
        return self._model_config

    def changed_environment(self) -> dict[str, str | None]:
        """Return the ``SGLANG_*`` and ``NCCL_*`` variables that differ from the case's, None for an unset one."""
        before, after = self._given, self.env
        if before == after:
            return {}
        return {
            name: after.get(name)
            for name in sorted(before.keys() | after.keys())
            if name.startswith(_WATCHED) and before.get(name) != after.get(name)
        }


_CURRENT: ContextVar[Machine] = ContextVar("simulated machine")


@contextmanager
def simulated(case: Case) -> Iterator[Machine]:
    """Make ``case`` the current one inside the block, in this thread (or task) only, and restore the earlier one
    after it.
    """
    machine = Machine(case)
    token = _CURRENT.set(machine)
    try:
        yield machine
    finally:
        _CURRENT.reset(token)


def current() -> Machine:
    """Return the current case's machine. Raises OutsideCase when there is none."""
    try:
        return _CURRENT.get()
    except LookupError:
        raise OutsideCase("no case is current: probes answer inside simulated(case) only") from None


def _of_hardware(rule: Callable[[Hardware], Answer]) -> Callable[[], Answer]:
    def probe() -> Answer:
        return rule(current().hardware)

    # Not functools.wraps, by which the probe would seem to take a machine, as ``rule`` does.
    probe.__name__ = probe.__qualname__ = rule.__name__
    probe.__doc__ = rule.__doc__
    return probe


def _of_checkpoint(rule: Callable[[Model], Answer]) -> Callable[[str], Answer]:
    def probe(path: str) -> Answer:
        # The path does not matter, since a case has one checkpoint.
        return rule(current().model)

    probe.__name__ = probe.__qualname__ = rule.__name__
    probe.__doc__ = rule.__doc__
    return probe


is_cuda = _of_hardware(probes.is_cuda)
is_hip = _of_hardware(probes.is_hip)
is_cuda_alike = _of_hardware(probes.is_cuda_alike)
is_cpu = _of_hardware(probes.is_cpu)
is_xpu = _of_hardware(probes.is_xpu)
is_npu = _of_hardware(probes.is_npu)
is_hpu = _of_hardware(probes.is_hpu)
is_habana_available = _of_hardware(probes.is_habana_available)
is_mps = _of_hardware(probes.is_mps)
is_musa = _of_hardware(probes.is_musa)
is_host_cpu_x86 = _of_hardware(probes.is_host_cpu_x86)
is_host_cpu_arm64 = _of_hardware(probes.is_host_cpu_arm64)
get_device = _of_hardware(probes.get_device)
get_device_capability = _of_hardware(probes.get_device_capability)
get_device_sm = _of_hardware(probes.get_device_sm)
get_cuda_version = _of_hardware(probes.get_cuda_version)
is_sm80_supported = _of_hardware(probes.is_sm80_supported)
is_ampere_with_cuda_12_3 = _of_hardware(probes.is_ampere_with_cuda_12_3)
is_sm90_supported = _of_hardware(probes.is_sm90_supported)
is_hopper_with_cuda_12_3 = _of_hardware(probes.is_hopper_with_cuda_12_3)
is_sm100_supported = _of_hardware(probes.is_sm100_supported)
is_sm120_supported = _of_hardware(probes.is_sm120_supported)
is_blackwell_supported = _of_hardware(probes.is_blackwell_supported)
is_blackwell = _of_hardware(probes.is_blackwell)
is_gfx942_supported = _of_hardware(probes.is_gfx942_supported)
is_gfx95_supported = _of_hardware(probes.is_gfx95_supported)
mxfp_supported = _of_hardware(probes.mxfp_supported)
get_nvidia_driver_version = _of_hardware(probes.get_nvidia_driver_version)
get_device_memory_capacity = _of_hardware(probes.get_device_memory_capacity)
get_npu_memory_capacity = _of_hardware(probes.get_npu_memory_capacity)
cpu_has_amx_support = _of_hardware(probes.cpu_has_amx_support)
xpu_has_xmx_support = _of_hardware(probes.xpu_has_xmx_support)
is_flashinfer_available = _of_hardware(probes.is_flashinfer_available)
is_triton_kernels_available = _of_hardware(probes.is_triton_kernels_available)
aiter_can_use_preshuffle_paged_mqa = _of_hardware(probes.aiter_can_use_preshuffle_paged_mqa)
has_fp8_weights_in_checkpoint = _of_checkpoint(probes.has_fp8_weights_in_checkpoint)
check_gguf_file = _of_checkpoint(probes.check_gguf_file)
