"""The machine of a case. What sglang's probes answer on it is in `harness.world.probes`."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

import msgspec

from harness.common.convert import struct_from_json, worded

Platform = Literal["cuda", "hip", "cpu", "xpu", "npu", "hpu", "mps", "musa"]
Host = Literal["x86_64", "arm64"]

PLATFORMS: tuple[str, ...] = get_args(Platform)
HOSTS: tuple[str, ...] = get_args(Host)

_Count = Annotated[int, msgspec.Meta(ge=0, le=999)]
_Capability = Annotated[tuple[_Count, _Count] | None, worded("[major, minor] as two integers from 0 to 999, or null")]
_DriverMajor = Annotated[
    Annotated[int, msgspec.Meta(ge=1, le=999_999)] | None,
    worded("the driver's major version as a positive integer, or null"),
]
_Mebibytes = Annotated[int, msgspec.Meta(ge=1, le=2**40), worded("a positive integer (MiB)")]
# ``\Z``, since ``$`` also matches before a line break at the end.
_CudaVersion = Annotated[
    Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{1,3}\.[0-9]{1,3}\Z")] | None,
    worded("a string 'major.minor' such as '12.9', or null"),
]


class Hardware(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One machine, with the keys and defaults of the case contract; hashable, and equal by value.

    - ``capability`` is the compute capability (major, minor) of CUDA, ROCm (gfx942 is 9, 4) and MUSA devices.
    - ``cuda_version`` is the CUDA version of torch as "major.minor", ``driver`` the major version of the driver.
    - ``memory_mib`` is the memory of one device in MiB.
    - ``flashinfer`` and ``triton_kernels`` say whether these packages are installed.
    - ``amx``, ``xmx`` and ``aiter_preshuffle`` say whether the CPU, the Intel GPU and the ROCm stack have them.

    Values are checked when they come from JSON (`hardware_from_json`), not here.
    """

    platform: Platform = "cpu"
    capability: _Capability = None
    cuda_version: _CudaVersion = None
    driver: _DriverMajor = None
    memory_mib: _Mebibytes = 262144
    flashinfer: bool = False
    triton_kernels: bool = False
    amx: bool = False
    xmx: bool = False
    aiter_preshuffle: bool = False
    host: Host = "x86_64"

    def identity(self) -> bytes:
        """Return the same bytes for equal machines, and for no others."""
        return msgspec.json.encode(self, order="deterministic")


def hardware_from_json(value: object, where: str, key: str = "hardware") -> Hardware:
    """Return the machine that ``value``, a decoded JSON object, describes; missing keys take the defaults.

    Raises UsageError that names ``where`` ("cases.jsonl:3"), the key under ``key``, and what was expected.
    """
    return struct_from_json(Hardware, value, where, key)
