"""Expert kernels, exchanges and the draft's, pass by pass."""

from __future__ import annotations

from typing import Any

import pytest
from callables import B200, H100, SM120, declared

from declarative.passes import a2a, moe
from harness.world.hardware import Hardware

OFF = {"cuda_graph_config.decode.backend": "disabled", "cuda_graph_config.prefill.backend": "disabled"}


@pytest.mark.parametrize(
    ("hardware", "quantization", "runner", "chosen"),
    [
        (B200, "nvfp4_online", "auto", "flashinfer_trtllm"),
        (B200, "nvfp4_online", "flashinfer_trtllm_routed", None),
        (H100, "mxfp8", "auto", "flashinfer_trtllm"),
        (H100, "mxfp8", "triton", "flashinfer_trtllm"),
        (H100, "mxfp8", "cutlass", None),
        (SM120, "modelopt_fp4", "auto", "flashinfer_cutlass"),
        (SM120, "modelopt_fp4", "triton", None),
        (B200, "modelopt_fp4", "auto", None),
        (B200, None, "auto", None),
    ],
)
def test_quantization_methods_choose_kernels(
    hardware: Hardware, quantization: str | None, runner: str, chosen: str | None
) -> None:
    args = {"quantization": quantization, "moe_runner_backend": runner}
    found = declared(moe._moe_runner_backend_quant_constraints, hardware, args)
    assert found == ({} if chosen is None else {"moe_runner_backend": chosen})


def test_nvfp4_online_has_one_machine_and_its_kernels() -> None:
    step = moe._moe_runner_backend_quant_constraints
    with pytest.raises(ValueError, match="quantizes on Blackwell"):
        declared(step, SM120, {"quantization": "nvfp4_online"})
    with pytest.raises(ValueError, match="no experts in triton"):
        declared(step, B200, {"quantization": "nvfp4_online", "moe_runner_backend": "triton"})


@pytest.mark.parametrize(
    ("runner", "quantization", "disables"),
    [
        ("flashinfer_cutlass", "modelopt_fp8", False),
        ("flashinfer_cutedsl", "modelopt_fp4", True),
        ("flashinfer_trtllm", "compressed-tensors", True),
        ("experimental_sgl_trtllm", None, True),
        ("flashinfer_trtllm_routed", "mxfp8", True),
        ("triton", "awq", False),
    ],
)
def test_some_kernels_keep_shared_experts_apart(runner: str, quantization: str | None, disables: bool) -> None:
    args = {"moe_runner_backend": runner, "quantization": quantization}
    found = declared(moe._moe_runner_fusion_disable, B200, args)
    assert found == ({"disable_shared_experts_fusion": True} if disables else {})


@pytest.mark.parametrize(
    "args",
    [
        {"moe_runner_backend": "flashinfer_cutlass", "quantization": "fp8"},
        {"moe_runner_backend": "flashinfer_cutlass", "tp_size": 8, "ep_size": 2},
        {"moe_runner_backend": "flashinfer_cutedsl"},
        {"moe_runner_backend": "flashinfer_cutedsl", "quantization": "modelopt_fp4", "moe_a2a_backend": "nixl"},
        {"moe_runner_backend": "flashinfer_trtllm", "quantization": "awq"},
        {"moe_runner_backend": "flashinfer_trtllm_routed", "quantization": "modelopt_fp8"},
    ],
)
def test_flashinfers_kernels_refuse_what_they_lack(args: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match="flashinfer"):
        declared(moe._moe_runner_fusion_disable, B200, args)


def test_the_environment_asks_for_cutlass() -> None:
    step, on = moe._cutlass_moe_env_override, {"SGLANG_CUTLASS_MOE": "1"}
    assert declared(step, H100, {"quantization": "fp8"}, env=on) == {"moe_runner_backend": "cutlass"}
    assert declared(step, H100, {"quantization": "fp8"}, env={"SGLANG_CUTLASS_MOE": "0"}) == {}
    with pytest.raises(AssertionError, match="fp8 and mxfp8 experts alone"):
        declared(step, H100, env=on)
    with pytest.raises(AssertionError, match="set ep_size to 1"):
        declared(step, H100, {"quantization": "fp8", "moe_runner_backend": "cutlass", "ep_size": 2})
    assert declared(step, H100, {"moe_runner_backend": "cutlass", "ep_size": 2}) == {}


def test_a_draft_takes_the_models_kernels() -> None:
    step = moe._speculative_moe_runner_default
    args = {"moe_runner_backend": "triton"}
    assert declared(step, H100, args) == {"speculative_moe_runner_backend": "triton"}
    assert declared(step, H100, {**args, "speculative_moe_runner_backend": "auto"}) == {}


def test_who_overrides_the_exchange() -> None:
    step = a2a._a2a_backend_overrides
    mega = {"SGLANG_OPT_USE_DEEPGEMM_MEGA_MOE": "1"}
    assert declared(step, H100) == {}
    assert declared(step, H100, {"enable_deepep_waterfill": True}) == {"moe_a2a_backend": "deepep"}
    assert declared(step, H100, {"enable_deepep_waterfill": True, "moe_a2a_backend": "deepep"}) == {}
    assert declared(step, H100, {"enable_deepep_waterfill": True}, env=mega) == {"moe_a2a_backend": "megamoe"}
    assert declared(step, H100, {"moe_a2a_backend": "megamoe"}, env=mega) == {}


@pytest.mark.parametrize("backend", ["megamoe", "deepep", "mooncake", "nixl", "ascend_fuseep", "mori"])
def test_every_exchange_spreads_over_all_ranks(backend: str) -> None:
    args = {"moe_a2a_backend": backend, "tp_size": 8, "ep_size": 2}
    assert declared(a2a._a2a_ep_size, H100, args) == {"ep_size": 8}


def test_no_exchange_leaves_the_users_ranks() -> None:
    assert declared(a2a._a2a_ep_size, H100, {"tp_size": 8, "ep_size": 2}) == {}


def test_flashinfers_exchange_needs_data_parallel_attention() -> None:
    args = {"moe_a2a_backend": "flashinfer", "tp_size": 8, "dp_size": 8, "enable_dp_attention": True}
    assert declared(a2a._a2a_ep_size, B200, args) == {"ep_size": 8}
    for lacking in ({"enable_dp_attention": False}, {"dp_size": 2}):
        with pytest.raises(AssertionError, match="enable dp attention"):
            declared(a2a._a2a_ep_size, B200, {**args, **lacking})


def test_effects_of_the_exchanges() -> None:
    step = a2a._a2a_fusion_adjustments

    def found(backend: str, env: dict[str, str] | None = None, **args: Any) -> dict[str, Any]:
        return declared(step, B200, {"moe_a2a_backend": backend, **args}, env=env)

    assert found("megamoe") == {"SGLANG_OPT_FIX_MEGA_MOE_MEMORY": True}
    assert found("megamoe", {"SGLANG_OPT_FIX_MEGA_MOE_MEMORY": "0"}) == {}
    assert found("flashinfer") == {"disable_shared_experts_fusion": True, "SGLANG_MOE_NVFP4_DISPATCH": True}
    assert found("flashinfer", {"SGLANG_MOE_NVFP4_DISPATCH": ""}) == {"disable_shared_experts_fusion": True}
    assert found("deepep") == found("mooncake") == found("none") == {}
    assert found("deepep", deepep_mode="normal") == OFF
    assert found("deepep", enable_deepep_waterfill=True) == {"enforce_shared_experts_fusion": True}
    assert found("deepep", enable_deepep_waterfill=True, disable_shared_experts_fusion=True) == {
        "enforce_shared_experts_fusion": True,
        "disable_shared_experts_fusion": False,
    }


def test_modes_and_checks_of_the_exchanges() -> None:
    step = a2a._a2a_mode_and_checks

    def found(backend: str, env: dict[str, str] | None = None, **args: Any) -> dict[str, Any]:
        return declared(step, B200, {"moe_a2a_backend": backend, **args}, env=env)

    assert found("flashinfer", moe_runner_backend="flashinfer_cutlass") == {}
    with pytest.raises(AssertionError, match="flashinfer cannot hand tokens to auto"):
        found("flashinfer")
    assert found("ascend_fuseep") == {}
    with pytest.raises(ValueError, match="1 or 2, not 3"):
        found("ascend_fuseep", {"SGLANG_NPU_FUSED_MOE_MODE": "3"})
    assert found("ascend_fuseep", {"SGLANG_NPU_FUSED_MOE_MODE": "2"}, quantization="modelslim") == {}
    with pytest.raises(AssertionError, match="modelslim alone"):
        found("ascend_fuseep", {"SGLANG_NPU_FUSED_MOE_MODE": "2"})
    assert found("mori", chunked_prefill_size=4096) == {"deepep_mode": "normal"}
    assert found("mori", chunked_prefill_size=4096, deepep_mode="low_latency") == {}
    assert found("mori", chunked_prefill_size=8192, disaggregation_mode="decode") == {"deepep_mode": "normal"}
    with pytest.raises(AssertionError, match="a prefill chunk of 8192 tokens exceeds"):
        found("mori")
    with pytest.raises(TypeError, match="'>' not supported"):
        found("mori", chunked_prefill_size=None)
