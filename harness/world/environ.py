"""Typed accessors of environment variables. They use the environment of the current case, not the process's.

``envs.SGLANG_X.get()`` reads, ``set`` writes, and ``is_set`` says whether the variable exists, as in
``sglang/srt/environ.py``. Names, types and defaults are facts of 0.5.14. As there, a text of the wrong form counts as
the default.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from harness.world.machine import current

T = TypeVar("T")
D = TypeVar("D")


class EnvField(Generic[T, D]):
    """One variable: ``T`` is the type of its value, ``D`` that of its default."""

    __slots__ = ("default", "name")

    def __init__(self, default: D) -> None:
        self.default = default
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def parse(self, text: str) -> T:
        """Return the value that ``text`` means. Raises ValueError for text of the wrong form."""
        raise NotImplementedError

    def get(self) -> T | D:
        """Return the value; the default if the variable is not set or its text has the wrong form."""
        text = current().env.get(self.name)
        if text is None:
            return self.default
        try:
            return self.parse(text)
        except ValueError:
            return self.default

    def is_set(self) -> bool:
        """Return whether the variable exists, whatever its text."""
        return self.name in current().env

    def set(self, value: T) -> None:
        """Set the variable to ``value`` as a text, such as "True"."""
        current().env[self.name] = str(value)

    def __bool__(self) -> bool:
        # An accessor has no truth value of its own: ``if envs.X`` would always hold, whatever the variable says.
        raise TypeError(f"ask envs.{self.name}.get() or envs.{self.name}.is_set()")


class EnvStr(EnvField[str, D]):
    """Text, as it stands."""

    __slots__ = ()

    def parse(self, text: str) -> str:
        """Return ``text``."""
        return text


class EnvBool(EnvField[bool, bool]):
    """A switch, in the usual spellings of true and false."""

    __slots__ = ()

    def parse(self, text: str) -> bool:
        """Return True for true, 1, yes and y, and False for false, 0, no and n, in upper or lower case."""
        folded = text.lower()
        if folded in ("true", "1", "yes", "y"):
            return True
        if folded in ("false", "0", "no", "n"):
            return False
        raise ValueError(text)


class EnvInt(EnvField[int, int]):
    """An integer, as ``int`` reads it."""

    __slots__ = ()

    def parse(self, text: str) -> int:
        """Return the integer."""
        return int(text)


class EnvFloat(EnvField[float, float]):
    """A number, as ``float`` reads it."""

    __slots__ = ()

    def parse(self, text: str) -> float:
        """Return the number."""
        return float(text)


class Envs:
    """The variables that the resolution slice reads or writes."""

    # DeepSeek sparse attention, DeepSeek V4
    SGLANG_DSA_PREFILL_DENSE_ATTN_KV_LEN_THRESHOLD = EnvInt(2048)
    SGLANG_OPT_FP8_WO_A_GEMM = EnvBool(True)
    SGLANG_OPT_USE_TOPK_V2 = EnvBool(True)
    SGLANG_OPT_USE_TILELANG_MHC_PRE = EnvBool(True)
    SGLANG_OPT_USE_TILELANG_MHC_POST = EnvBool(True)
    SGLANG_OPT_DEEPGEMM_HC_PRENORM = EnvBool(True)
    SGLANG_OPT_USE_FUSED_COMPRESS = EnvBool(False)
    SGLANG_OPT_USE_JIT_INDEXER_METADATA = EnvBool(True)
    SGLANG_OPT_USE_AITER_INDEXER = EnvBool(False)
    SGLANG_OPT_USE_MULTI_STREAM_OVERLAP = EnvBool(True)
    SGLANG_FP8_PAGED_MQA_LOGITS_TORCH = EnvBool(False)
    SGLANG_EAGER_INPUT_NO_COPY = EnvBool(False)
    # Mixture of experts
    SGLANG_CUTLASS_MOE = EnvBool(False)
    SGLANG_DEEPEP_BF16_DISPATCH = EnvBool(False)
    SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE = EnvBool(False)
    SGLANG_MOE_NVFP4_DISPATCH = EnvBool(False)
    SGLANG_MORI_NUM_MAX_DISPATCH_TOKENS_PER_RANK = EnvInt(4096)
    SGLANG_NPU_FUSED_MOE_MODE = EnvInt(1)
    SGLANG_OPT_USE_DEEPGEMM_MEGA_MOE = EnvBool(False)
    SGLANG_OPT_FIX_MEGA_MOE_MEMORY = EnvBool(False)
    # ROCm, Apple silicon
    SGLANG_USE_AITER = EnvBool(False)
    SGLANG_USE_AITER_UNIFIED_ATTN = EnvBool(False)
    SGLANG_AITER_KV_CACHE_LAYOUT = EnvStr("nhd")
    SGLANG_USE_MLX = EnvBool(False)
    # Everything else
    SGLANG_ENABLE_UNIFIED_RADIX_TREE = EnvBool(False)
    SGLANG_EMBEDDINGS_SPARSE_HEAD = EnvStr(None)
    SGLANG_ENABLE_DETERMINISTIC_INFERENCE = EnvBool(False)
    SGLANG_VLM_CACHE_SIZE_MB = EnvInt(100)
    # NCCL's own; sglang writes it and has no accessor for it.
    NCCL_ALGO = EnvStr(None)


envs = Envs()
