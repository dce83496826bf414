"""The machine of a case: what the simulated hardware is, and nothing about what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

import msgspec

from harness.common.convert import struct_from_json

Platform = Literal["cuda", "hip", "cpu", "xpu", "npu", "hpu", "mps", "musa"]
Host = Literal["x86_64", "arm64"]

PLATFORMS: tuple[str, ...] = get_args(Platform)
HOSTS: tuple[str, ...] = get_args(Host)

_Count = Annotated[int, msgspec.Meta(ge=0, le=999)]
_DriverMajor = Annotated[int, msgspec.Meta(ge=1, le=999_999)]
_Mebibytes = Annotated[int, msgspec.Meta(ge=1, le=2**40)]
# \Z and not $, which would let a line break through.
_CudaVersion = Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{1,3}\.[0-9]{1,3}\Z")]


class Hardware(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One machine, by the keys and the defaults of the case contract; hashable, and equal by value.

    ``capability`` is the compute capability (major, minor) of CUDA, ROCm (gfx942 is 9, 4) and MUSA devices;
    ``cuda_version`` is torch's CUDA as "major.minor"; ``driver`` is the driver's major version;
    ``memory_mib`` is one device's memory in MiB. ``flashinfer`` and ``triton_kernels`` say whether those
    packages are installed; ``amx``, ``xmx`` and ``aiter_preshuffle`` whether the CPU, the Intel GPU and
    the ROCm stack have them. Values are checked where JSON comes in (`hardware_from_json`), not here.
    """

    platform: Platform = "cpu"
    capability: tuple[_Count, _Count] | None = None
    cuda_version: _CudaVersion | None = None
    driver: _DriverMajor | None = None
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


_FLAG = "true or false"

HARDWARE_KEYS: Mapping[str, str] = {
    "platform": f"one of {', '.join(PLATFORMS)}",
    "capability": "[major, minor] as two integers from 0 to 999, or null",
    "cuda_version": "a string 'major.minor' such as '12.9', or null",
    "driver": "the driver's major version as a positive integer, or null",
    "memory_mib": "a positive integer (MiB)",
    "flashinfer": _FLAG,
    "triton_kernels": _FLAG,
    "amx": _FLAG,
    "xmx": _FLAG,
    "aiter_preshuffle": _FLAG,
    "host": f"one of {', '.join(HOSTS)}",
}
"""What the value of each key must be, in the words of an error."""


def hardware_from_json(value: object, where: str, key: str = "hardware") -> Hardware:
    """Return the machine that ``value``, a decoded JSON object, describes; missing keys take the defaults.

    Raises UsageError that names ``where`` ("cases.jsonl:3"), the key under ``key``, and what was expected.
    """
    return struct_from_json(Hardware, value, HARDWARE_KEYS, where, key)
