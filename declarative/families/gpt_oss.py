"""GPT-OSS."""

from __future__ import annotations

from typing import Final

from declarative.engine.steps import Declaration, check, post_process
from declarative.engine.view import ResolvedView
from declarative.inputs.facts import architecture_in
from declarative.inputs.reading import attention_backends_of, is_attention_backend_not_set
from harness.world.environ import envs
from harness.world.machine import (
    cpu_has_amx_support,
    get_nvidia_driver_version,
    is_blackwell_supported,
    is_cpu,
    is_hip,
    is_musa,
    is_sm90_supported,
    is_sm100_supported,
    is_sm120_supported,
    is_triton_kernels_available,
    is_xpu,
)
from harness.world.modelfacts import get_quantization_config

GPT_OSS_BACKENDS: Final = ("triton", "trtllm_mha", "fa3", "fa4", "ascend", "intel_amx", "intel_xpu", "aiter")

is_gpt_oss = architecture_in("GptOssForCausalLM")


@post_process(writes=("attention_backend",), when=is_gpt_oss)
def _gpt_oss_attention_backend(view: ResolvedView) -> Declaration | None:
    """GPT-OSS has attention sinks, which few kernels of each platform support."""
    if not is_attention_backend_not_set(view):
        return None
    if is_sm100_supported():
        backend = "trtllm_mha"
    elif is_sm90_supported():
        backend = "fa3"
    elif is_cpu() and cpu_has_amx_support():
        backend = "intel_amx"
    elif is_xpu():
        backend = "intel_xpu"
    elif is_hip():
        backend = "aiter"
    else:
        backend = "triton"
    return {"attention_backend": backend}


@check(when=is_gpt_oss)
def _gpt_oss_validation(view: ResolvedView) -> None:
    """GPT-OSS runs only on backends with attention sinks, and on Intel GPUs only in bfloat16.

    The type is the one that the user chose: the pass runs before `_gpt_oss_overrides`, which may force another.
    Raises NotImplementedError for another type on an Intel GPU, AssertionError for another backend.
    """
    if is_xpu() and view.dtype not in ("auto", "bfloat16"):
        raise NotImplementedError(f"GPT-OSS runs as bfloat16 on Intel XPU, not as {view.dtype}")
    prefill_backend, decode_backend = attention_backends_of(view)
    assert prefill_backend in GPT_OSS_BACKENDS and decode_backend in GPT_OSS_BACKENDS, (
        f"GPT-OSS attends with one of {GPT_OSS_BACKENDS}, not with {prefill_backend} and {decode_backend}"
    )


@post_process(writes=("dtype", "moe_runner_backend"), when=is_gpt_oss)
def _gpt_oss_overrides(view: ResolvedView) -> Declaration | None:
    """An MXFP4 checkpoint computes in bfloat16, and its experts need the kernels that the machine has for MXFP4.

    Raises AssertionError for expert parallelism with triton_kernel.
    """
    is_mxfp4 = get_quantization_config(view.model.hf_config) == "mxfp4"
    declared: Declaration = {"dtype": "bfloat16"} if is_mxfp4 else {}
    runner = view.moe_runner_backend
    if runner == "auto":
        runner = _experts(view, is_mxfp4)
        if runner != "auto":
            declared["moe_runner_backend"] = runner
    if runner == "triton_kernel":
        assert view.ep_size == 1, "triton_kernel keeps all experts on every rank: set ep_size to 1"
    return declared


def _experts(view: ResolvedView, is_mxfp4: bool) -> str:
    uses_aiter = is_hip() and envs.SGLANG_USE_AITER.get()
    if is_sm100_supported() and is_mxfp4:
        return "flashinfer_mxfp4"
    if is_sm120_supported() and is_mxfp4:
        return "marlin"
    if uses_aiter:
        # "auto" makes the layers use AITER. AITER does not support all the matrix shapes of a BF16 checkpoint.
        return "auto" if is_mxfp4 else "triton"
    if is_musa() and envs.SGLANG_DEEPEP_BF16_DISPATCH.get():
        return "deep_gemm"
    if (
        view.ep_size == 1
        and is_triton_kernels_available()
        and view.quantization is None
        and not (is_cpu() and cpu_has_amx_support())
    ):
        # From this driver on, triton_kernels crashes on Blackwell.
        crashes = is_blackwell_supported() and get_nvidia_driver_version() >= (595,)
        return "triton" if crashes else "triton_kernel"
    return "auto"
