"""The values that the command line accepts for a field, as ``server_args.py`` of 0.5.14 lists them."""

from __future__ import annotations

from typing import Final

LOAD_FORMAT_CHOICES: Final = (
    "auto",
    "pt",
    "safetensors",
    "npcache",
    "dummy",
    "sharded_state",
    "gguf",
    "bitsandbytes",
    "mistral",
    "layered",
    "flash_rl",
    "remote",
    "remote_instance",
    "fastsafetensors",
    "private",
    "runai_streamer",
)

DTYPE_CHOICES: Final = ("auto", "half", "float16", "bfloat16", "float", "float32")

QUANTIZATION_CHOICES: Final = (
    "awq",
    "fp8",
    "mxfp8",
    "gptq",
    "marlin",
    "gptq_marlin",
    "awq_marlin",
    "bitsandbytes",
    "gguf",
    "modelopt",
    "modelopt_fp8",
    "modelopt_fp4",
    "nvfp4_online",
    "modelopt_mixed",
    "petit_nvfp4",
    "w8a8_int8",
    "w8a8_fp8",
    "moe_wna16",
    "qoq",
    "w4afp8",
    "mxfp4",
    "auto-round",
    "compressed-tensors",
    "modelslim",
    "quark",
    "quark_int4fp8_moe",
    "quark_mxfp4",
    "mlx_q4",
    "mlx_q8",
    "unquant",
)

KV_CACHE_DTYPE_CHOICES: Final = ("auto", "fp8_e5m2", "fp8_e4m3", "bf16", "bfloat16", "fp4_e2m1")

ATTENTION_BACKEND_CHOICES: Final = (
    "triton",
    "torch_native",
    "flex_attention",
    "dsa",
    "nsa",
    "dsv4",
    "compressed",
    "cutlass_mla",
    "fa3",
    "fa4",
    "flashinfer",
    "flashmla",
    "trtllm_mla",
    "cutedsl_mla",
    "tokenspeed_mla",
    "trtllm_mha",
    "dual_chunk_flash_attn",
    "aiter",
    "wave",
    "intel_amx",
    "ascend",
    "intel_xpu",
)

DETERMINISTIC_ATTENTION_BACKEND_CHOICES: Final = ("flashinfer", "fa3", "triton", "ascend")
RADIX_SUPPORTED_DETERMINISTIC_ATTENTION_BACKEND: Final = ("fa3", "triton", "ascend")

SAMPLING_BACKEND_CHOICES: Final = ("ascend", "flashinfer", "pytorch")

DSA_CHOICES: Final = ("flashmla_sparse", "flashmla_kv", "flashmla_auto", "fa3", "tilelang", "aiter", "trtllm")

MOE_RUNNER_BACKEND_CHOICES: Final = (
    "auto",
    "deep_gemm",
    "triton",
    "triton_kernel",
    "flashinfer_trtllm",
    "experimental_sgl_trtllm",
    "flashinfer_trtllm_routed",
    "flashinfer_cutlass",
    "flashinfer_mxfp4",
    "flashinfer_cutedsl",
    "cutlass",
    "aiter",
    "marlin",
)

MOE_A2A_BACKEND_CHOICES: Final = (
    "none",
    "deepep",
    "mooncake",
    "nixl",
    "mori",
    "ascend_fuseep",
    "flashinfer",
    "megamoe",
)

DEEPEP_MODE_CHOICES: Final = ("auto", "normal", "low_latency")
CP_STRATEGY_CHOICES: Final = ("zigzag", "interleave")
MAMBA_RADIX_CACHE_STRATEGY_CHOICES: Final = ("auto", "no_buffer", "extra_buffer", "extra_buffer_lazy")
LINEAR_ATTN_KERNEL_BACKEND_CHOICES: Final = ("triton", "cutedsl", "flashinfer")
HICACHE_IO_BACKEND_CHOICES: Final = ("direct", "kernel", "kernel_ascend")
HICACHE_MEM_LAYOUT_CHOICES: Final = (
    "layer_first",
    "page_first",
    "page_first_direct",
    "page_first_kv_split",
    "page_head",
)
FLASHINFER_ALLREDUCE_FUSION_CHOICES: Final = ("auto", "trtllm", "mnnvl")
RL_ON_POLICY_TARGET_CHOICES: Final = ("fsdp",)
DISAGGREGATION_MODE_CHOICES: Final = ("null", "prefill", "decode")
DISAGG_TRANSFER_BACKEND_CHOICES: Final = ("mooncake", "nixl", "ascend", "fake", "mori", "mooncake_tcp")
SAMPLING_DEFAULTS_CHOICES: Final = ("openai", "model")
