"""The CUDA graph configuration: which backend captures each of the two phases.

Names, defaults and the rule that unknown keys are dropped are facts of ``model_executor/cuda_graph_config.py``
in 0.5.14.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any


class Backend:
    """What captures the graphs of a phase."""

    FULL = "full"
    BREAKABLE = "breakable"
    TC_PIECEWISE = "tc_piecewise"
    DISABLED = "disabled"


@dataclass(slots=True)
class PhaseConfig:
    """Settings of one phase."""

    backend: str = Backend.DISABLED
    max_bs: int | None = None
    bs: list[int] | None = None
    tc_compiler: str | None = "eager"


_KEYS = tuple(setting.name for setting in fields(PhaseConfig))


def _decode() -> PhaseConfig:
    return PhaseConfig(Backend.FULL)


def _prefill() -> PhaseConfig:
    return PhaseConfig(Backend.TC_PIECEWISE)


@dataclass(slots=True)
class CudaGraphConfig:
    """Settings of both phases."""

    decode: PhaseConfig = field(default_factory=_decode)
    prefill: PhaseConfig = field(default_factory=_prefill)

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any] | None) -> CudaGraphConfig:
        """Return the defaults changed by ``raw``. Keys that are no phase, or no setting of one, are dropped."""
        config = cls()
        if not raw:
            return config
        for phase, settings in raw.items():
            if phase in ("decode", "prefill") and isinstance(settings, dict):
                target: PhaseConfig = getattr(config, phase)
                for key, value in settings.items():
                    if key in _KEYS:
                        setattr(target, key, value)
        return config
