"""Nemotron-H; the original is ``arg_groups/nemotron_h_hook.py`` (0.5.14)."""

from __future__ import annotations

from harness.world.machine import get_device_capability, is_cuda, is_sm100_supported
from legacy.mamba import MambaHandlers

_MODELOPT = ("modelopt", "modelopt_fp8", "modelopt_fp4", "modelopt_mixed")


def apply_nemotron_h_defaults(server_args: MambaHandlers, model_arch: str) -> None:
    """Set what the checkpoint's quantization implies, then the attention kernels and the mamba cache.

    Raises AssertionError for another activation than relu2 in a quantized checkpoint, for Triton attention, and
    for what the mamba cache refuses.
    """
    model_config = server_args.get_model_config()
    detected = model_config.quantization
    is_modelopt = detected in _MODELOPT
    if is_modelopt:
        assert model_config.hf_config.mlp_hidden_act == "relu2", "a quantized Nemotron-H activates with relu2"
        if detected == "modelopt":
            quant_algo = model_config.hf_config.quantization_config["quant_algo"]
            if quant_algo == "MIXED_PRECISION":
                server_args.quantization = "modelopt_mixed"
            else:
                server_args.quantization = "modelopt_fp4" if quant_algo == "NVFP4" else "modelopt_fp8"
        else:
            server_args.quantization = detected

    if (is_modelopt or detected is None) and server_args.moe_runner_backend == "auto":
        is_fp4 = detected in ("modelopt_fp4", "modelopt_mixed") or server_args.quantization == "modelopt_fp4"
        if is_sm100_supported() and server_args.moe_a2a_backend == "none":
            server_args.moe_runner_backend = "flashinfer_trtllm"
        # Without a capability the comparison is a TypeError, in the original too.
        elif is_fp4 and is_cuda() and (8, 0) <= get_device_capability() < (10, 0):  # type: ignore[operator]
            server_args.moe_runner_backend = "marlin"
        else:
            server_args.moe_runner_backend = "flashinfer_cutlass"

    if is_sm100_supported() and server_args.attention_backend is None:
        server_args.attention_backend = "flashinfer"
    server_args._handle_mamba_radix_cache(model_arch=model_arch)
    assert server_args.attention_backend != "triton", (
        "Nemotron-H cannot attend with triton: its first layer may be a state layer"
    )
