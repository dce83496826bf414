"""DeepSeek V3 and V3.2 (sparse attention), and other makers' models that are built like these."""

from __future__ import annotations

from typing import Any, Final

from declarative.engine.steps import Declaration, check, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.facts import Facts, architecture_in
from declarative.inputs.reading import is_attention_backend_not_set
from harness.world.cuda_graph import Backend
from harness.world.environ import envs
from harness.world.machine import (
    aiter_can_use_preshuffle_paged_mqa,
    has_fp8_weights_in_checkpoint,
    is_hip,
    is_npu,
    is_sm100_supported,
    is_xpu,
)
from harness.world.modelfacts import get_quantization_config
from harness.world.modelview import HFConfig

DEEPSEEK_V3_ARCHITECTURES: Final = (
    "DeepseekV3ForCausalLM",
    "DeepseekV32ForCausalLM",
    "KimiK25ForConditionalGeneration",
    "MistralLarge3ForCausalLM",
    "PixtralForConditionalGeneration",
    "GlmMoeDsaForCausalLM",
)
_INT4_WEIGHTS: Final = (("num_bits", 4), ("group_size", 32), ("strategy", "group"), ("type", "int"))

is_deepseek_v3 = architecture_in(*DEEPSEEK_V3_ARCHITECTURES)


def is_sparse(facts: Facts) -> bool:
    """Whether the model is of the DeepSeek V3 family and has sparse attention."""
    return facts.sparse_attention and is_deepseek_v3(facts)


def is_dense(facts: Facts) -> bool:
    """Whether the model is of the DeepSeek V3 family and does not have sparse attention."""
    return not facts.sparse_attention and is_deepseek_v3(facts)


@post_process(writes=("attention_backend",), env=("SGLANG_DSA_PREFILL_DENSE_ATTN_KV_LEN_THRESHOLD",), when=is_sparse)
def _dsa_attention_defaults(view: ResolvedView) -> Declaration:
    """Sparse attention has a backend of its own, and prefills contexts up to the indexer's top-k densely."""
    declared: Declaration = {}
    if not envs.SGLANG_DSA_PREFILL_DENSE_ATTN_KV_LEN_THRESHOLD.is_set():
        declared["SGLANG_DSA_PREFILL_DENSE_ATTN_KV_LEN_THRESHOLD"] = view.model.hf_config.index_topk
    if is_attention_backend_not_set(view):
        declared["attention_backend"] = "dsa"
    return declared


@check(when=is_sparse)
def _dsa_two_batch_overlap_validation(view: ResolvedView) -> None:
    """Layers that share the indexer's result cannot run in two overlapping batches.

    Raises ValueError if two-batch overlap is on for such a model.
    """
    hf_config = view.model.hf_config
    pattern = hf_config.index_topk_pattern
    shares_topk = (hf_config.index_topk_freq or 1) > 1 or (pattern is not None and "S" in pattern)
    if view.enable_two_batch_overlap and shares_topk:
        raise ValueError("layers that share their top-k indices cannot run as two overlapping batches")


@post_process(
    writes=("enable_dp_attention", "moe_dense_tp_size", "moe_a2a_backend", "ep_size", "attn_cp_size"),
    state=("cuda_graph_config.prefill.backend",),
    when=is_sparse,
)
def _dsa_context_parallelism(view: ResolvedView) -> Declaration | None:
    """Data parallel ranks attend to a split context; in zigzag order the experts communicate over DeepEP.

    Raises AssertionError for numbers of ranks that do not fit.
    """
    if not view.enable_prefill_cp or is_npu() or is_xpu():
        return None
    declared: Declaration = {"enable_dp_attention": True, "moe_dense_tp_size": 1}
    if view.cp_strategy == "zigzag":
        declared["moe_a2a_backend"] = "deepep"
        declared["ep_size"] = view.tp_size
    else:
        assert view.dp_size == 1, "an interleaved context leaves no rank for data parallel attention"
    assert view.tp_size <= 8, "context parallelism stays within one machine of 8 devices"
    declared["attn_cp_size"] = view.tp_size // view.dp_size
    declared["cuda_graph_config.prefill.backend"] = Backend.DISABLED
    return declared


@post_process(writes=("page_size",), when=is_sparse)
def _dsa_page_size(view: ResolvedView) -> Declaration | None:
    """The indexer's kernels read pages of 64 tokens; on ROCm only AITER's preshuffled kernels do."""
    if is_npu() or is_xpu():
        return None
    return {"page_size": 1 if is_hip() and not aiter_can_use_preshuffle_paged_mqa() else 64}


@check(when=is_sparse)
def _dsa_context_parallelism_validation(view: ResolvedView) -> None:
    """A decode server does not prefill, so it has no context to split.

    Raises AssertionError if the user asks for it.
    """
    if view.enable_prefill_cp:
        assert view.disaggregation_mode != "decode", "a decode server has no prefill whose context could be split"


@post_process(
    writes=(
        "attention_backend",
        "enable_dp_attention",
        "moe_dense_tp_size",
        "moe_a2a_backend",
        "ep_size",
        "attn_cp_size",
    ),
    state=("cuda_graph_config.prefill.backend",),
    when=is_dense,
)
def _deepseek_family_overrides(view: ResolvedView) -> Declaration:
    """Latent attention has its own kernels on SM100, and a split context needs DeepEP and data parallel attention."""
    declared: Declaration = {}
    if is_sm100_supported() and is_attention_backend_not_set(view):
        declared["attention_backend"] = "trtllm_mla"
    if view.enable_prefill_cp and view.model.uses_mla:
        declared |= {
            "enable_dp_attention": True,
            "moe_dense_tp_size": 1,
            "moe_a2a_backend": "deepep",
            "ep_size": view.tp_size,
            "attn_cp_size": view.tp_size // view.dp_size,
            "cuda_graph_config.prefill.backend": Backend.DISABLED,
        }
    return declared


@post_process(writes=("quantization", "moe_runner_backend"), when=is_deepseek_v3)
def _deepseek_moe_quant_resolution(view: ResolvedView) -> Declaration | None:
    """On SM100 flashinfer has expert kernels for the methods in which these checkpoints are published.

    If the user chose no method and did not opt out, the pass takes over that of the checkpoint.
    """
    if not is_sm100_supported():
        return None
    declared: Declaration = {}
    hf_config = view.model.hf_config
    is_int4 = is_kimi_k2_int4(hf_config)
    quantization = view.quantization
    if quantization is None and not view._quantization_explicitly_unset:
        quantization = _detected(view, hf_config)
        if quantization is not None:
            declared["quantization"] = quantization
    if (
        view.moe_a2a_backend == "none"
        and view.moe_runner_backend == "auto"
        and (
            quantization in ("fp8", "modelopt_fp8", "modelopt_fp4", "modelopt_mixed")
            or is_int4
            or quantization is None
        )
    ):
        declared["moe_runner_backend"] = "flashinfer_trtllm"
    return declared


def _detected(view: ResolvedView, hf_config: HFConfig) -> Any:
    quant_method = get_quantization_config(hf_config)
    if quant_method is None and view.model.architecture == "DeepseekV3ForCausalLM":
        # DeepSeek V3's config does not say that its experts are FP8, and other models of this architecture are BF16.
        # Only the weights show which it is.
        return "fp8" if has_fp8_weights_in_checkpoint(view.model_path) else None
    return quant_method


def is_kimi_k2_int4(hf_config: HFConfig) -> bool:
    """Return whether the weights are in the INT4 format in which Kimi K2 Thinking and K2.5 are published."""
    declared = hf_config.quantization_config or {}
    weights = declared.get("config_groups", {}).get("group_0", {}).get("weights", {})
    return get_quantization_config(hf_config) == "compressed-tensors" and all(
        weights.get(key) == value for key, value in _INT4_WEIGHTS
    )


@post_process(writes=("speculative_moe_runner_backend", "speculative_moe_a2a_backend"), when=is_deepseek_v3)
def _deepseek_spec_moe_resolution(view: ResolvedView) -> Declaration | None:
    """The draft layer of an FP4 checkpoint is BF16 or FP8, so on ROCm it needs other expert kernels than the model.

    Raises ValueError for a draft layer over DeepEP without expert parallelism.
    """
    if not (
        view.quantization == "modelopt_fp4"
        and view.speculative_algorithm == "EAGLE"
        and (view.speculative_moe_runner_backend is None or view.speculative_moe_a2a_backend is None)
        and is_hip()
    ):
        return None
    if not envs.SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE.get():
        return {"speculative_moe_runner_backend": "triton", "speculative_moe_a2a_backend": "none"}
    if view.ep_size == 1:
        raise ValueError("a draft layer over deepep needs expert parallelism: set ep_size above 1")
    return {"speculative_moe_runner_backend": "deep_gemm", "speculative_moe_a2a_backend": "deepep"}
