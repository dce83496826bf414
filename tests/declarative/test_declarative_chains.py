"""Each chain's end state, as its readers see it: through publishing."""

from __future__ import annotations

from typing import Any

import pytest
from callables import A100, B200, H100, MI300X, MPS, NPU, SM120

import declarative
from declarative.engine import PublishError, Resolution, RuntimeContext, declare_before_resolution
from declarative.inputs.server_args import ServerArgs
from declarative.pipeline import run_passes
from harness.world.case import Case, Outcome
from harness.world.cuda_graph import CudaGraphConfig
from harness.world.hardware import Hardware
from harness.world.machine import simulated
from harness.world.model import Model
from harness.world.slice import FIELDS


def case(
    hardware: Hardware, args: dict[str, Any] | None = None, env: dict[str, str] | None = None, **model: Any
) -> Case:
    model.setdefault("architectures", ["LlamaForCausalLM"])
    return Case(id="c", args=args or {}, hardware=hardware, model=Model(**model), env=env or {})


def published(*given: Any, **model: Any) -> RuntimeContext:
    context = RuntimeContext()
    outcome: Outcome = declarative.publish(case(*given, **model), context)
    assert outcome.error is None, outcome.error
    context.check_parity()
    context.freeze()
    return context


def written(context: RuntimeContext, field: str) -> list[tuple[str, Any]]:
    return [(entry.source, entry.resolved) for entry in context.provenance if entry.field == field]


def test_page_size_of_combined_fa4() -> None:
    context = published(B200, {"attention_backend": "fa4", "page_size": 64})
    assert (context.flags.attn.backend, context.flags.page_size) == ("fa4", 128)
    assert written(context, "page_size") == [("_fa4_page_constraint", 128)]


def test_page_size_of_an_explicit_fa4_prefill() -> None:
    args = {"prefill_attention_backend": "fa4", "decode_attention_backend": "triton"}
    context = published(B200, args)
    assert (context.flags.attn.prefill_backend, context.flags.attn.decode_backend) == ("fa4", "triton")
    # The combined backend's default snapped the page size before.
    assert written(context, "page_size") == [("_mla_backend_page_constraints", 64), ("_fa4_page_constraint", 128)]
    assert context.flags.page_size == 128


def test_page_size_of_both_phases_with_fa4() -> None:
    args = {"prefill_attention_backend": "fa4", "decode_attention_backend": "fa4"}
    context = published(B200, args)
    assert (context.flags.attn.backend, context.flags.page_size) == ("fa4", 128)


def test_page_size_of_fa4_elsewhere() -> None:
    assert published(H100, {"attention_backend": "fa4"}).flags.page_size == 1
    assert published(B200, {"attention_backend": "fa4"}, attention="mla").flags.page_size == 1


def test_page_size_from_default_to_blocks() -> None:
    context = published(H100, {"dllm_algorithm": "LowConfidence"}, dllm_block_size=4)
    assert written(context, "page_size") == [("_page_size_default", 1), ("_dllm_page_size", 4)]
    assert (context.flags.page_size, context.flags.attn.backend) == (4, "flashinfer")
    assert context.flags.disable_overlap_schedule is True


def test_attention_backend_chain() -> None:
    context = published(NPU)
    assert written(context, "attention_backend") == [("_npu_defaults", "ascend")]
    assert context.flags.attn.prefill_backend == context.flags.attn.decode_backend == "ascend"
    llama4 = published(H100, {"kv_cache_dtype": "fp8_e5m2"}, architectures=["Llama4ForCausalLM"])
    assert written(llama4, "attention_backend") == [
        ("_llama4_overrides", "fa3"),
        ("_attention_backend_fa3_fp8_fallback", "triton"),
    ]


def test_deterministic_chain() -> None:
    args = {"rl_on_policy_target": "fsdp", "tp_size": 2, "flashinfer_allreduce_fusion_backend": "trtllm"}
    context = published(H100, args)
    flags = context.flags
    assert (flags.attn.backend, flags.sampling_backend) == ("fa3", "pytorch")
    assert flags.flashinfer_allreduce_fusion_backend is None
    assert context.arguments.disable_custom_all_reduce and context.arguments.enable_deterministic_inference


def test_allreduce_fusion_chain() -> None:
    context = published(H100, {"tp_size": 8}, architectures=["Qwen3MoeForCausalLM"])
    assert context.flags.flashinfer_allreduce_fusion_backend == "auto"
    never = {"tp_size": 8, "enforce_disable_flashinfer_allreduce_fusion": True}
    context = published(H100, never, architectures=["Qwen3MoeForCausalLM"])
    assert [value for _, value in written(context, "flashinfer_allreduce_fusion_backend")] == ["auto", None]


def test_quantization_and_experts_chain() -> None:
    fp8: dict[str, Any] = {"architectures": ["DeepseekV3ForCausalLM"], "attention": "mla", "fp8_weights": True}
    context = published(B200, **fp8)
    assert (context.flags.quantization, context.flags.moe.runner_backend) == ("fp8", "flashinfer_trtllm")
    assert context.flags.disable_shared_experts_fusion is True
    assert context.flags.speculative_moe_runner_backend == "flashinfer_trtllm"
    told = published(B200, {"quantization": "unquant"}, **fp8)
    assert told.flags.quantization is None
    assert written(told, "quantization") == [("_quantization_opt_out", None)]
    cutlass = published(H100, {"quantization": "fp8"}, {"SGLANG_CUTLASS_MOE": "1"})
    assert cutlass.flags.moe.runner_backend == "cutlass"
    gguf = published(H100, {"quantization": "fp8"}, gguf=True)
    assert (gguf.flags.quantization, gguf.arguments.load_format) == ("gguf", "gguf")


def test_sm120_experts_chain() -> None:
    context = published(SM120, {"quantization": "modelopt_fp4"})
    assert context.flags.moe.runner_backend == "flashinfer_cutlass"


def test_sparse_attention_chain() -> None:
    sparse: dict[str, Any] = {"architectures": ["DeepseekV32ForCausalLM"], "attention": "mla", "index_topk": 2048}
    flags = published(B200, {"quantization": "modelopt_fp4"}, **sparse).flags
    assert (flags.attn.backend, flags.page_size, flags.kv_cache_dtype) == ("dsa", 64, "fp8_e4m3")
    assert (flags.dsa_prefill_backend, flags.dsa_decode_backend) == ("trtllm", "trtllm")
    flags = published(MI300X, **sparse).flags
    assert (flags.page_size, flags.dsa_prefill_backend, flags.kv_cache_dtype) == (1, "tilelang", "bfloat16")


def test_parallel_request_chain() -> None:
    args = {"enable_prefill_cp": True, "tp_size": 8, "dp_size": 2, "cp_strategy": "zigzag"}
    sparse: dict[str, Any] = {"architectures": ["DeepseekV32ForCausalLM"], "attention": "mla", "index_topk": 2048}
    flags = published(H100, args, **sparse).flags
    assert (flags.enable_dp_attention, flags.moe_dense_tp_size, flags.attn_cp_size) == (True, 1, 4)
    assert (flags.moe_a2a_backend, flags.ep_size) == ("deepep", 8)
    mega = published(H100, {"tp_size": 4, "ep_size": 2}, {"SGLANG_OPT_USE_DEEPGEMM_MEGA_MOE": "1"}).flags
    assert (mega.moe_a2a_backend, mega.ep_size) == ("megamoe", 4)
    single = published(H100, {"enable_dp_attention": True, "enable_dp_lm_head": True}).flags
    assert (single.enable_dp_attention, single.enable_dp_lm_head) == (False, False)


def test_mamba_chain() -> None:
    names = ["FalconH1ForCausalLM"]
    flags = published(H100, architectures=names).flags
    assert (flags.uses_mamba_radix_cache, flags.mamba_radix_cache_strategy) == (True, "extra_buffer")
    flags = published(A100, {"disable_overlap_schedule": True}, architectures=names).flags
    assert (flags.mamba_radix_cache_strategy, flags.disable_overlap_schedule) == ("no_buffer", True)


def test_overlap_chain() -> None:
    assert published(MPS).flags.disable_overlap_schedule is True
    assert published(H100, {"pp_size": 2}).flags.disable_overlap_schedule is True
    assert published(H100).flags.disable_overlap_schedule is False


def test_speculative_experts_chain() -> None:
    args = {"quantization": "modelopt_fp4", "speculative_algorithm": "EAGLE"}
    flags = published(MI300X, args, architectures=["DeepseekV3ForCausalLM"], attention="mla").flags
    assert (flags.speculative_moe_runner_backend, flags.speculative_moe_a2a_backend) == ("triton", "none")


def test_types_memory_and_drafts_of_families() -> None:
    assert published(H100, architectures=["MistralLarge3ForCausalLM"]).flags.dtype == "bfloat16"
    assert published(H100, architectures=["MiniMaxM2ForCausalLM"]).flags.enable_tf32_matmul is True
    assert published(H100, architectures=["Gemma2ForCausalLM"]).flags.disable_hybrid_swa_memory is True
    assert published(H100, architectures=["DeepseekV4ForCausalLM"]).flags.swa_full_tokens_ratio == 0.1
    draft = {"speculative_algorithm": "EAGLE"}
    assert published(H100, draft, architectures=["MiMoV2FlashForCausalLM"]).flags.enable_multi_layer_eagle is True


@pytest.mark.parametrize("hardware", [H100, B200, MI300X, NPU])
def test_flags_are_the_outcome(hardware: Hardware) -> None:
    context = published(hardware)
    fields = declarative.resolve(case(hardware)).fields
    assert fields is not None
    assert {name: getattr(context.arguments, name) for name in FIELDS} == {name: fields[name] for name in FIELDS}


def test_a_refused_case_publishes_nothing() -> None:
    context = RuntimeContext()
    outcome = declarative.publish(case(H100, {"attention_backend": "trtllm_mla"}), context)
    assert outcome.error is not None and outcome.error.origin == "_trtllm_mla_page_size"
    with pytest.raises(PublishError):
        _ = context.arguments


def test_what_a_launcher_declared_is_read_by_passes_and_published() -> None:
    with simulated(case(B200)):
        record = ServerArgs(cuda_graph_config=CudaGraphConfig(), model_path="m", device="cuda")
        declare_before_resolution(record, "launcher", {"attention_backend": "fa4", "dtype": "half"})
        resolution = Resolution(record)
        run_passes(resolution)
        context = RuntimeContext()
        context.publish(resolution)
    context.check_parity()
    assert (context.flags.attn.backend, context.flags.page_size, context.flags.dtype) == ("fa4", 128, "half")
    assert context.provenance[0][:2] == ("launcher", "attention_backend")
