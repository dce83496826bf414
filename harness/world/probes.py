"""The answers of a simulated machine and checkpoint to sglang's probes, under the names that these have in sglang.

Names and rules are facts of ``sglang/srt/utils/common.py`` in 0.5.14 to 0.5.16, unless a function says otherwise. If
the case contract defines a predicate, its definition is used. There are no probes for what a case does not have
(number of devices, device name, ROCm version).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TypeAlias

from harness.world.hardware import Hardware
from harness.world.model import Model

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"


def is_cuda(hardware: Hardware) -> bool:
    """Whether the devices are NVIDIA's."""
    return hardware.platform == "cuda"


def is_hip(hardware: Hardware) -> bool:
    """Whether the devices are AMD's, under ROCm."""
    return hardware.platform == "hip"


def is_cuda_alike(hardware: Hardware) -> bool:
    """Whether the platform is CUDA or ROCm; MUSA is not counted."""
    return is_cuda(hardware) or is_hip(hardware)


def is_cpu(hardware: Hardware) -> bool:
    """Whether the CPU engine runs. This is about the platform, not about the presence of a CPU."""
    return hardware.platform == "cpu"


def is_xpu(hardware: Hardware) -> bool:
    """Whether the devices are Intel GPUs."""
    return hardware.platform == "xpu"


def is_npu(hardware: Hardware) -> bool:
    """Whether the devices are Ascend's."""
    return hardware.platform == "npu"


def is_hpu(hardware: Hardware) -> bool:
    """Whether the devices are Gaudi's."""
    return hardware.platform == "hpu"


def is_habana_available(hardware: Hardware) -> bool:
    """Whether Habana's framework is installed, which a machine with Gaudi devices has."""
    return is_hpu(hardware)


def is_mps(hardware: Hardware) -> bool:
    """Whether the device is Apple's."""
    return hardware.platform == "mps"


def is_musa(hardware: Hardware) -> bool:
    """Whether the devices are Moore Threads'."""
    return hardware.platform == "musa"


def is_host_cpu_x86(hardware: Hardware) -> bool:
    """Whether the host's CPU is x86-64."""
    return hardware.host == "x86_64"


def is_host_cpu_arm64(hardware: Hardware) -> bool:
    """Whether the host's CPU is 64-bit Arm."""
    return hardware.host == "arm64"


def get_device(hardware: Hardware) -> str:
    """The torch device type, which is also in the slice's entry state. To torch, ROCm and MUSA are "cuda"."""
    return "cuda" if hardware.platform in ("cuda", "hip", "musa") else hardware.platform


def get_device_capability(hardware: Hardware) -> tuple[int, int] | tuple[None, None]:
    """The compute capability (major, minor) if torch.cuda reports one, else (None, None)."""
    if hardware.platform in ("cuda", "hip", "musa") and hardware.capability is not None:
        return hardware.capability
    return (None, None)


def get_device_sm(hardware: Hardware) -> int:
    """The compute capability as 10 * major + minor, 0 if there is none."""
    major, minor = get_device_capability(hardware)
    return 0 if major is None or minor is None else 10 * major + minor


def get_cuda_version(hardware: Hardware) -> tuple[int, int]:
    """The CUDA version of torch (major, minor); (0, 0) if it is built without CUDA."""
    if not is_cuda(hardware) or hardware.cuda_version is None:
        return (0, 0)
    major, minor = hardware.cuda_version.split(".")
    return (int(major), int(minor))


def _is_cuda_generation(hardware: Hardware, majors: tuple[int, ...], cuda_version: tuple[int, int]) -> bool:
    """Whether a CUDA device is of one of the ``majors`` and torch's CUDA is at least ``cuda_version``."""
    if not is_cuda(hardware):
        return False
    major, _ = get_device_capability(hardware)
    return major in majors and get_cuda_version(hardware) >= cuda_version


def is_sm80_supported(hardware: Hardware) -> bool:
    """Whether the capability has major 8 and CUDA is at least 11.0."""
    return _is_cuda_generation(hardware, (8,), (11, 0))


def is_ampere_with_cuda_12_3(hardware: Hardware) -> bool:
    """Whether the capability has major 8 and CUDA is at least 12.3."""
    return _is_cuda_generation(hardware, (8,), (12, 3))


def is_sm90_supported(hardware: Hardware) -> bool:
    """Whether the capability has major 9 and CUDA is at least 12.3 (case contract)."""
    return _is_cuda_generation(hardware, (9,), (12, 3))


def is_hopper_with_cuda_12_3(hardware: Hardware) -> bool:
    """Whether SM90 is supported; the two are the same (case contract)."""
    return is_sm90_supported(hardware)


def is_sm100_supported(hardware: Hardware) -> bool:
    """Whether the capability has major 10 and CUDA is at least 12.8 (case contract)."""
    return _is_cuda_generation(hardware, (10,), (12, 8))


def is_sm120_supported(hardware: Hardware) -> bool:
    """Whether the capability has major 12 and CUDA is at least 12.8 (case contract)."""
    return _is_cuda_generation(hardware, (12,), (12, 8))


def is_blackwell_supported(hardware: Hardware) -> bool:
    """Whether the capability has major 10, 11 or 12 and CUDA is at least 12.8 (case contract)."""
    return _is_cuda_generation(hardware, (10, 11, 12), (12, 8))


def is_blackwell(hardware: Hardware) -> bool:
    """Whether Blackwell is supported; another name of `is_blackwell_supported`."""
    return is_blackwell_supported(hardware)


def is_gfx942_supported(hardware: Hardware) -> bool:
    """Whether the platform is ROCm on gfx942 (MI300X, MI325X), whose capability is (9, 4)."""
    return is_hip(hardware) and hardware.capability == (9, 4)


def is_gfx95_supported(hardware: Hardware) -> bool:
    """Whether the platform is ROCm on gfx95x (MI350X, MI355X), whose capability is (9, 5)."""
    return is_hip(hardware) and hardware.capability == (9, 5)


def mxfp_supported(hardware: Hardware) -> bool:
    """Whether the device has the MX formats, which for the original means ROCm on gfx95x."""
    return is_gfx95_supported(hardware)


def get_nvidia_driver_version(hardware: Hardware) -> tuple[int, ...]:
    """The version of the driver, of which a case has only the major; (0,) if there is no driver."""
    return (0,) if hardware.driver is None else (hardware.driver,)


def get_device_memory_capacity(hardware: Hardware) -> int:
    """Memory of one device, in MiB."""
    return hardware.memory_mib


def get_npu_memory_capacity(hardware: Hardware) -> int:
    """Memory of one device, in MiB; the original asks only on an NPU."""
    return hardware.memory_mib


def cpu_has_amx_support(hardware: Hardware) -> bool:
    """Whether the host's CPU has AMX tiles and the kernels for them."""
    return hardware.amx


def xpu_has_xmx_support(hardware: Hardware) -> bool:
    """Whether the devices are Intel GPUs with XMX."""
    return is_xpu(hardware) and hardware.xmx


def is_flashinfer_available(hardware: Hardware) -> bool:
    """Whether flashinfer is installed; it counts on CUDA only."""
    return is_cuda(hardware) and hardware.flashinfer


def is_triton_kernels_available(hardware: Hardware) -> bool:
    """Whether the triton_kernels package is installed, on any platform."""
    return hardware.triton_kernels


def aiter_can_use_preshuffle_paged_mqa(hardware: Hardware) -> bool:
    """Whether ROCm can use AITER's preshuffled paged-MQA kernels.

    The original is in ``layers/attention/dsa/utils.py``; it also looks at the environment and at versions,
    which the case states as one fact (``aiter_preshuffle``).
    """
    return is_hip(hardware) and hardware.aiter_preshuffle


def has_fp8_weights_in_checkpoint(model: Model) -> bool:
    """Whether the checkpoint's expert weights are FP8."""
    return model.fp8_weights


def check_gguf_file(model: Model) -> bool:
    """Whether the model's path is a GGUF file; the original is in ``utils/hf_transformers``."""
    return model.gguf


def _probes_of(argument: str) -> dict[str, Callable[..., object]]:
    """Return the public functions above with ``argument`` as their only one, so that no list of probes is needed."""
    functions = [found for name, found in globals().items() if inspect.isfunction(found) and not name.startswith("_")]
    return {found.__name__: found for found in functions if [*inspect.signature(found).parameters] == [argument]}


HARDWARE_PROBES: Mapping[str, Callable[[Hardware], object]] = _probes_of("hardware")
"""Every hardware probe, by the original's name."""

CHECKPOINT_PROBES: Mapping[str, Callable[[Model], object]] = _probes_of("model")
"""Every probe of the checkpoint's files, by the original's name."""


def _plain(answer: object) -> JSON:
    """Return ``answer`` in a form that JSON has: a tuple becomes a list."""
    if answer is None or isinstance(answer, (bool, int, str)):
        return answer
    if isinstance(answer, tuple):
        return [_plain(item) for item in answer]
    raise TypeError(f"a probe answered {answer!r}, which JSON cannot carry")


def probe_answers(hardware: Hardware) -> dict[str, JSON]:
    """Return the answer of every hardware probe on ``hardware``, by the original's name, as plain JSON values."""
    return {name: _plain(probe(hardware)) for name, probe in HARDWARE_PROBES.items()}


def checkpoint_answers(model: Model) -> dict[str, JSON]:
    """Return the answer of every checkpoint probe for ``model``, by the original's name, as plain JSON values."""
    return {name: _plain(probe(model)) for name, probe in CHECKPOINT_PROBES.items()}
