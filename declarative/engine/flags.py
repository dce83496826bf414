"""The resolved flags, in typed groups.

Readers take values from here and never fall back to the arguments. A group's leaves are its dataclass fields, and
writing any other name is an error that suggests the nearest leaf. ``freeze`` ends all writing, except of the flags
that are written while graphs are captured. ``override`` is for tests, and works on frozen groups too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from .errors import FlagError, FrozenFlagsError, hint

Group = TypeVar("Group", bound="FlagGroup")


class FlagGroup:
    """Leaves that belong together; a subclass is a dataclass."""

    def __setattr__(self, name: str, value: object) -> None:
        self._check(name)
        if self.frozen:
            raise FrozenFlagsError(f"{type(self).__name__} is frozen: {name!r} can be changed by override() in tests")
        object.__setattr__(self, name, value)

    @classmethod
    def _check(cls, name: str) -> None:
        leaves = cls.leaves()
        if name not in leaves:
            raise FlagError(f"{cls.__name__} has no flag {name!r}{hint(name, leaves)}")

    @classmethod
    def leaves(cls) -> tuple[str, ...]:
        """Return the names of the leaves and of the groups inside."""
        return tuple(cls.__dataclass_fields__)  # type: ignore[attr-defined]

    @property
    def frozen(self) -> bool:
        """Whether the leaves can no longer be written."""
        return bool(vars(self).get("_frozen", False))

    def freeze(self) -> None:
        """End writing, here and in the groups inside; groups that stay writable override this."""
        for name in self.leaves():
            inner = getattr(self, name)
            if isinstance(inner, FlagGroup):
                inner.freeze()
        object.__setattr__(self, "_frozen", True)

    @contextmanager
    def override(self: Group, **values: Any) -> Iterator[Group]:
        """Give leaves other values for the block, for tests; works on frozen groups.

        Raises FlagError for an unknown name before anything is changed.
        """
        for name in values:
            self._check(name)
        saved = {name: getattr(self, name) for name in values}
        try:
            for name, value in values.items():
                object.__setattr__(self, name, value)
            yield self
        finally:
            for name, value in saved.items():
                object.__setattr__(self, name, value)


@dataclasses.dataclass
class AttnFlags(FlagGroup):
    """The attention backend, and those of prefill and of decode where they are not the same."""

    backend: str | None = None
    prefill_backend: str | None = None
    decode_backend: str | None = None


@dataclasses.dataclass
class MoeFlags(FlagGroup):
    """The kernels that run the experts of a mixture of experts."""

    runner_backend: str = "auto"


@dataclasses.dataclass
class CaptureFlags(FlagGroup):
    """The flags that are written while graphs are captured, when all others are frozen already."""

    enable_torch_compile: bool = False
    disable_dispose_tensor: bool = False

    def freeze(self) -> None:
        """Do nothing: these stay writable."""


@dataclasses.dataclass
class Flags(FlagGroup):
    """All flags; a leaf without a group has the name of its field."""

    attn: AttnFlags = dataclasses.field(default_factory=AttnFlags)
    moe: MoeFlags = dataclasses.field(default_factory=MoeFlags)
    capture: CaptureFlags = dataclasses.field(default_factory=CaptureFlags)

    dtype: str = "auto"
    quantization: str | None = None
    kv_cache_dtype: str = "auto"
    enable_tf32_matmul: bool = False
    page_size: int | None = None
    swa_full_tokens_ratio: float = 0.8
    disable_hybrid_swa_memory: bool = False
    disable_overlap_schedule: bool = False
    sampling_backend: str | None = None
    dsa_prefill_backend: str | None = None
    dsa_decode_backend: str | None = None
    uses_mamba_radix_cache: bool = False
    mamba_radix_cache_strategy: str = "auto"
    enable_multi_layer_eagle: bool = False
    speculative_moe_runner_backend: str | None = None
    speculative_moe_a2a_backend: str | None = None
    disable_shared_experts_fusion: bool = False
    flashinfer_allreduce_fusion_backend: str | None = None
    enable_dp_attention: bool = False
    enable_dp_lm_head: bool = False
    moe_a2a_backend: str = "none"
    moe_dense_tp_size: int | None = None
    ep_size: int = 1
    attn_cp_size: int = 1


LEAF_MAP: Final[Mapping[str, str]] = {
    "attention_backend": "attn.backend",
    "prefill_attention_backend": "attn.prefill_backend",
    "decode_attention_backend": "attn.decode_backend",
    "moe_runner_backend": "moe.runner_backend",
}
"""The leaf of a resolvable field, as a dotted path; a field that is not listed has a flat leaf of its own name."""


def leaf_of(flags: FlagGroup, field: str, leaf_map: Mapping[str, str] = LEAF_MAP) -> tuple[FlagGroup, str]:
    """Return the group and the name of the leaf of ``field``. Raises FlagError when there is no such leaf."""
    *groups, leaf = leaf_map.get(field, field).split(".")
    owner = flags
    for name in groups:
        inner = getattr(owner, name, None)
        if not isinstance(inner, FlagGroup):
            raise FlagError(f"{field!r} has no flag: {type(owner).__name__} has no group {name!r}")
        owner = inner
    if leaf not in owner.leaves():
        raise FlagError(f"{field!r} has no flag: {type(owner).__name__} has no {leaf!r}{hint(leaf, owner.leaves())}")
    return owner, leaf
