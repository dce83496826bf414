"""Draws a machine: a profile, a profile with attributes changed, or one put together from parts."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from harness.generate.chance.draw import Draw
from harness.world.hardware import HOSTS, PLATFORMS, Hardware
from harness.world.profiles import hardware_profiles, per_profiles

# Values on both sides of every bound that a probe compares with.
_PARTS: Final[dict[str, tuple[Any, ...]]] = {
    "platform": PLATFORMS,
    # Filled in by `_parts`, from the profiles.
    "capability": (),
    "cuda_version": ("12.1", "12.2", "12.3", "12.7", "12.8", "12.9", "13.0"),
    "driver": (None, 530, 580, 594, 595, 600),
    "memory_mib": (15360, 23028, 32768, 32769, 65536, 65537, 81559, 143771, 183359, 262144),
    "flashinfer": (False, True),
    "triton_kernels": (False, True),
    "amx": (False, True),
    "xmx": (False, True),
    "aiter_preshuffle": (False, True),
    "host": HOSTS,
}
_NAMES: Final = tuple(_PARTS)


@per_profiles
def _parts() -> dict[str, tuple[Any, ...]]:
    """Return the values to try for each attribute.

    The capabilities are those of the profiles. For each of their major versions there is one more, just below it:
    (major - 1, 9).
    """
    capabilities = {machine.capability for machine in hardware_profiles() if machine.capability}
    capabilities |= {(major - 1, 9) for major, _ in capabilities}
    return {**_PARTS, "capability": tuple(sorted(capabilities))}


def draw_machine(draw: Draw, real: Hardware | None = None) -> Hardware:
    """Return a machine: mostly a profile (``real``, if given), else one with a few or all attributes drawn anew."""
    base = real or draw.pick(hardware_profiles())
    if draw.chance(70):
        return base
    if draw.chance(80):
        return changed_machine(base, draw)
    return _possible(Hardware(**{name: draw.pick(options) for name, options in _parts().items()}), draw)


def changed_machine(machine: Hardware, draw: Draw) -> Hardware:
    """Return ``machine`` with one or two attributes drawn anew."""
    changes = {name: draw.pick(_parts()[name]) for name in (draw.pick(_NAMES), draw.pick(_NAMES))}
    return _possible(msgspec.structs.replace(machine, **changes), draw)


def _possible(machine: Hardware, draw: Draw) -> Hardware:
    """Return ``machine`` with what its platform must have: any GPU has a capability, and CUDA has a version."""
    if _lacks_capability(machine):
        machine = msgspec.structs.replace(machine, capability=draw.pick(_parts()["capability"]))
    if _lacks_version(machine):
        machine = msgspec.structs.replace(machine, cuda_version=draw.pick(_PARTS["cuda_version"]))
    return machine


def _lacks_capability(machine: Hardware) -> bool:
    return machine.platform in ("cuda", "hip", "musa") and machine.capability is None


def _lacks_version(machine: Hardware) -> bool:
    return machine.platform == "cuda" and machine.cuda_version is None


@per_profiles
def machines() -> tuple[Hardware, ...]:
    """Return the profiles, then machines that are made from some of them by changing one attribute.

    They are made from the first profile of each generation (a platform and the major of its capability). All together
    are on both sides of every bound that a probe compares with.
    """
    profiles = hardware_profiles()
    made = dict.fromkeys(profiles)
    first = {
        (machine.platform, machine.capability and machine.capability[0]): machine for machine in reversed(profiles)
    }
    for base in reversed(first.values()):
        for name, options in _parts().items():
            for option in options:
                machine = msgspec.structs.replace(base, **{name: option})
                if not _lacks_capability(machine) and not _lacks_version(machine):
                    made.setdefault(machine)
    return tuple(made)
