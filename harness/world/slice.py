"""The resolution slice as any package of this repository runs it: what goes in, and what an outcome contains.

Fields, state and entry state are those of sglang 0.5.14 and 0.5.15. The fields are the 28 that 0.5.15 marks as
resolvable. The state is what the handlers that write these also write. The entry state is what handlers outside the
slice would have set before.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Final, TypeVar

from harness.world.case import BrokenSetUp, Case, Outcome, Refusal
from harness.world.cuda_graph import CudaGraphConfig
from harness.world.fields import FieldSpec, check_args
from harness.world.machine import get_device, simulated

FIELDS: Final = (
    "attention_backend",
    "attn_cp_size",
    "decode_attention_backend",
    "disable_hybrid_swa_memory",
    "disable_overlap_schedule",
    "disable_shared_experts_fusion",
    "dsa_decode_backend",
    "dsa_prefill_backend",
    "dtype",
    "enable_dp_attention",
    "enable_dp_lm_head",
    "enable_multi_layer_eagle",
    "ep_size",
    "flashinfer_allreduce_fusion_backend",
    "kv_cache_dtype",
    "mamba_radix_cache_strategy",
    "moe_a2a_backend",
    "moe_dense_tp_size",
    "moe_runner_backend",
    "page_size",
    "prefill_attention_backend",
    "quantization",
    "sampling_backend",
    "speculative_moe_a2a_backend",
    "speculative_moe_runner_backend",
    "swa_full_tokens_ratio",
    "uses_mamba_radix_cache",
    "enable_tf32_matmul",
)
"""The resolved fields."""

_PHASES: Final = ("cuda_graph_config.decode.backend", "cuda_graph_config.prefill.backend")
_PLAIN_STATE: Final = ("disable_radix_cache", "enable_mixed_chunk", "mem_fraction_static", "load_format")
STATE: Final = (*_PHASES, *_PLAIN_STATE)
"""What the slice writes besides the resolved fields; an outcome contains it, too."""

ENTRY_STATE: Final[Mapping[str, Any]] = {
    "model_path": "org/model",
    "chunked_prefill_size": 8192,
    "max_prefill_tokens": 16384,
    "mem_fraction_static": 0.85,
}
"""The values that fields have at the start if the case does not set them.

The device comes from the machine, and the CUDA graph configuration has defaults of its own.
"""

R = TypeVar("R")


def resolve_slice(
    case: Case,
    *,
    arguments: Mapping[str, FieldSpec],
    record: Callable[..., R],
    run: Callable[[R], object],
    root: str,
) -> Outcome:
    """Return what ``run`` makes of the case: the resolved fields of its record, or the refusal that it raised.

    ``record`` makes the record from the arguments. ``root`` is the package's folder: only functions in it count as
    the origin of a refusal. Raises UsageError for an argument that is not in ``arguments`` or whose value is not of
    the field's type. A BrokenSetUp that ``run`` raises is not caught.
    """
    check_args(case.args, arguments, f"case {case.id}")
    with simulated(case) as machine:
        try:
            made = record(**entry_arguments(case.args))
            run(made)
        except (MemoryError, BrokenSetUp):
            raise
        except Exception as error:
            refusal = Refusal(type(error).__name__, str(error), _origin(error.__traceback__, root))
            return Outcome(id=case.id, fields=None, error=refusal, env=machine.changed_environment())
        return Outcome(id=case.id, fields=outcome_fields(made), error=None, env=machine.changed_environment())


def entry_arguments(args: dict[str, Any]) -> dict[str, Any]:
    """Return the record's arguments: what the case sets, over the entry state."""
    given = {**ENTRY_STATE, "device": get_device(), **args}
    # A handler must never change the case, whose lists and objects others use, too.
    given["cuda_graph_config"] = CudaGraphConfig.from_dict(copy.deepcopy(args.get("cuda_graph_config")))
    return given


def outcome_fields(record: Any) -> dict[str, Any]:
    """Return the fields of an outcome, `FIELDS` and `STATE`, as a resolved ``record`` has them."""
    fields: dict[str, Any] = {name: getattr(record, name) for name in FIELDS}
    for name, phase in zip(_PHASES, (record.cuda_graph_config.decode, record.cuda_graph_config.prefill), strict=True):
        fields[name] = phase.backend
    for name in _PLAIN_STATE:
        fields[name] = getattr(record, name)
    return fields


def _origin(trace: TracebackType | None, root: str) -> str:
    """Return the name of the innermost function in the folder ``root`` that the exception passed through."""
    origin = ""
    while trace is not None:
        code = trace.tb_frame.f_code
        # Comprehensions and lambdas, whose names are in angle brackets, say little about the origin.
        if code.co_filename.startswith(root) and not code.co_name.startswith("<"):
            origin = code.co_name
        trace = trace.tb_next
    return origin
