"""One case through all slots."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from harness.world.case import Case, Outcome, Refusal
from harness.world.fields import FieldSpec, check_args
from harness.world.machine import get_device, simulated
from legacy.arg import field_specs
from legacy.arguments import ENTRY_STATE
from legacy.cuda_graph import CudaGraphConfig
from legacy.server_args import ServerArgs
from legacy.slots import SLOTS

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
"""The resolved fields (resolution slice, "the fields")."""

_PHASES: Final = ("cuda_graph_config.decode.backend", "cuda_graph_config.prefill.backend")
_PLAIN_STATE: Final = ("disable_radix_cache", "enable_mixed_chunk", "mem_fraction_static", "load_format")
STATE: Final = (*_PHASES, *_PLAIN_STATE)
"""What the slice writes besides; an outcome holds it too."""

_HERE: Final = str(Path(__file__).parent) + "/"


@cache
def arguments() -> dict[str, FieldSpec]:
    """Return what a case may set, by name; `harness.world.fields.check_args` refuses the rest."""
    return field_specs(ServerArgs)


def resolve(case: Case) -> Outcome:
    """Return what the slots make of ``case``: the resolved fields, or the refusal that a handler raised.

    Raises UsageError for an argument that is no field, or whose value is not of the field's type: such a case is
    no input at all, and neither subject is asked about it.
    """
    check_args(case.args, arguments(), f"case {case.id}")
    with simulated(case) as machine:
        try:
            record = _entry_record(case.args)
            for slot in SLOTS:
                slot.run(record)
        except MemoryError:
            raise
        except Exception as error:
            refusal = Refusal(type(error).__name__, str(error), _origin(error.__traceback__))
            return Outcome(id=case.id, fields=None, error=refusal, env=machine.changed_environment())
        return Outcome(id=case.id, fields=_outcome_fields(record), error=None, env=machine.changed_environment())


def _entry_record(args: dict[str, Any]) -> ServerArgs:
    """Return the record as slot 0 finds it: what the case sets over the entry state over the defaults."""
    given = {**ENTRY_STATE, "device": get_device(), **args}
    # A handler must never write into the case, whose lists and objects are somebody else's.
    given["cuda_graph_config"] = CudaGraphConfig.from_dict(copy.deepcopy(args.get("cuda_graph_config")))
    return ServerArgs(**given)


def _outcome_fields(record: ServerArgs) -> dict[str, Any]:
    fields: dict[str, Any] = {name: getattr(record, name) for name in FIELDS}
    for name, phase in zip(_PHASES, (record.cuda_graph_config.decode, record.cuda_graph_config.prefill), strict=True):
        fields[name] = phase.backend
    for name in _PLAIN_STATE:
        fields[name] = getattr(record, name)
    return fields


def _origin(trace: TracebackType | None) -> str:
    """Return the innermost function of this package that the exception passed through."""
    origin = ""
    while trace is not None:
        code = trace.tb_frame.f_code
        # Comprehensions and lambdas have names in angle brackets.
        if code.co_filename.startswith(_HERE) and not code.co_name.startswith("<"):
            origin = code.co_name
        trace = trace.tb_next
    return origin
