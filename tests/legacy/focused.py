"""Cases aimed at one family each: its architectures, and only inputs that its branch (or what follows) looks at.

The generator spreads its draws over all inputs; conditions of four or five at once are met here.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.profiles import hardware_names, hardware_profile
from legacy.model_specific import ALLREDUCE_FUSION_ARCHITECTURES

Pool = Mapping[str, Sequence[Any]]

_MACHINES: Final = (
    *(hardware_profile(name) for name in hardware_names()),
    Hardware(
        platform="cuda", capability=(10, 0), cuda_version="12.9", driver=600, triton_kernels=True, flashinfer=True
    ),
    Hardware(platform="cuda", capability=(10, 0), cuda_version="12.9", driver=580, triton_kernels=True),
    Hardware(platform="cuda", capability=(8, 0), cuda_version="12.1", triton_kernels=True),
    Hardware(platform="cpu", amx=True, triton_kernels=True),
    Hardware(platform="cpu", host="arm64"),
    Hardware(platform="hip", capability=(9, 5), aiter_preshuffle=True),
    Hardware(platform="hip", capability=(9, 4)),
    Hardware(platform="npu", memory_mib=32768),
    Hardware(platform="npu", memory_mib=65536),
    Hardware(platform="xpu", xmx=True),
    Hardware(platform="musa", capability=(3, 1)),
    Hardware(platform="mps"),
    Hardware(platform="hpu"),
)
_INT4 = {"group_0": {"weights": {"num_bits": 4, "group_size": 32, "strategy": "group", "type": "int"}}}
_DECLARED: Final = (
    None,
    {},
    {"quant_method": "fp8"},
    {"quant_method": "mxfp4"},
    {"quant_method": "compressed-tensors"},
    {"quant_method": "compressed-tensors", "config_groups": _INT4},
    {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 8}}}},
    {"quant_method": "modelopt", "quant_algo": "NVFP4"},
    {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"},
    {"quant_method": "modelopt", "quant_algo": "FP8"},
    {"quant_method": "modelopt_fp4"},
    {"quant_method": "w4afp8"},
)
_QUANTIZATIONS: Final = (
    "fp8",
    "modelopt_fp8",
    "modelopt_fp4",
    "modelopt_mixed",
    "mxfp8",
    "nvfp4_online",
    "mxfp4",
    "modelslim",
    "unquant",
    "awq",
)
_RANKS: Final = (1, 2, 4, 8, 16)
_ATTENTION: Final = (
    "triton",
    "fa3",
    "fa4",
    "flashinfer",
    "trtllm_mha",
    "trtllm_mla",
    "aiter",
    "intel_xpu",
    "ascend",
    "torch_native",
    "flex_attention",
    "dual_chunk_flash_attn",
)
_MLA: Final = ("flashmla", "cutlass_mla", "trtllm_mla", "tokenspeed_mla", "cutedsl_mla", "fa4", "triton", "fa3")

ATTENTION: Final[Pool] = {
    "attention_backend": _ATTENTION,
    "prefill_attention_backend": _ATTENTION,
    "decode_attention_backend": _ATTENTION,
    "page_size": (1, 16, 32, 64, 128, 256),
    "kv_cache_dtype": ("auto", "bf16", "bfloat16", "fp8_e4m3", "fp8_e5m2", "fp4_e2m1"),
}
EXPERTS: Final[Pool] = {
    "moe_runner_backend": ("auto", "triton_kernel", "flashinfer_trtllm", "flashinfer_cutlass", "flashinfer_cutedsl"),
    "moe_a2a_backend": ("none", "deepep", "flashinfer", "mori"),
    "quantization": _QUANTIZATIONS,
    "tp_size": _RANKS,
    "ep_size": _RANKS,
}
MAMBA: Final[Pool] = {
    "mamba_radix_cache_strategy": ("auto", "no_buffer", "extra_buffer", "extra_buffer_lazy"),
    "disable_radix_cache": (True,),
    "disable_overlap_schedule": (True,),
    "page_size": (0, 1, 48, 64, 128),
    "mamba_track_interval": (1, 64, 256),
    "linear_attn_backend": ("triton", "cutedsl"),
    "speculative_algorithm": ("EAGLE",),
    "speculative_eagle_topk": (1, 2),
    "speculative_num_draft_tokens": (4, 512),
    "attention_backend": ("triton", "trtllm_mha", "flashinfer"),
}
CONTEXT: Final[Pool] = {
    "enable_prefill_cp": (True,),
    "cp_strategy": ("zigzag", "interleave"),
    "tp_size": (1, 2, 8, 16),
    "dp_size": (0, 1, 2),
    "disaggregation_mode": ("null", "prefill", "decode"),
    "enable_dp_attention": (True,),
}

FAMILIES: Final[Mapping[str, tuple[Sequence[str], Pool, Pool, Pool]]] = {
    "deepseek": (
        (
            "DeepseekV3ForCausalLM",
            "DeepseekV32ForCausalLM",
            "KimiK25ForConditionalGeneration",
            "MistralLarge3ForCausalLM",
            "PixtralForConditionalGeneration",
            "GlmMoeDsaForCausalLM",
            "DeepseekV3ForCausalLMNextN",
        ),
        {**CONTEXT, **ATTENTION, **EXPERTS, "enable_two_batch_overlap": (True,), "enable_hisparse": (True,)}
        | {"dsa_prefill_backend": ("fa3", "trtllm"), "dsa_decode_backend": ("fa3", "tilelang"), "nnodes": (1, 2)},
        {
            "index_topk": (None, 0, 2048, 2048),
            "index_topk_freq": (0, 1, 2),
            "index_topk_pattern": (None, "FFFF", "FSSF", ["F"], ["S"]),
            "fp8_weights": (False, True),
        },
        {
            "SGLANG_DSA_PREFILL_DENSE_ATTN_KV_LEN_THRESHOLD": ("1", "x"),
            "SGLANG_OPT_USE_DEEPGEMM_MEGA_MOE": ("y", "1"),
        },
    ),
    "draft": (
        ("DeepseekV3ForCausalLM", "KimiK25ForConditionalGeneration", "DeepseekV32ForCausalLM"),
        {
            "quantization": ("modelopt_fp4", "modelopt_fp4", "fp8"),
            "speculative_algorithm": ("EAGLE", "EAGLE", "NEXTN"),
            "speculative_moe_runner_backend": ("triton",),
            "speculative_moe_a2a_backend": ("none",),
            "ep_size": (1, 8),
        },
        {"index_topk": (None, 2048)},
        {"SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE": ("1", "0")},
    ),
    "deepseek_v4": (
        ("DeepseekV4ForCausalLM",),
        {**CONTEXT, **ATTENTION, "swa_full_tokens_ratio": (0.8, 0.5), "moe_runner_backend": ("auto", "triton")}
        | {"speculative_algorithm": ("EAGLE", "NEXTN"), "speculative_eagle_topk": (1, 2)},
        {"nvfp4_moe": (False, True)},
        {"SGLANG_OPT_USE_TOPK_V2": ("1", "0", "False")},
    ),
    "gpt_oss": (
        ("GptOssForCausalLM",),
        {**ATTENTION, **EXPERTS, "dtype": ("auto", "bfloat16", "half"), "enable_dp_attention": (True,)}
        | {"device": ("cuda",)},
        {"has_attention_sinks": (True,)},
        {"SGLANG_USE_AITER": ("1", "0"), "SGLANG_DEEPEP_BF16_DISPATCH": ("1",)},
    ),
    "mimo_v2": (
        ("MiMoV2ForCausalLM", "MiMoV2FlashForCausalLM"),
        {"tp_size": (0, 1, 4, 8, 16), "dp_size": (0, 1, 2), "attn_cp_size": (0, 1, 2), "enable_dp_attention": (True,)}
        | {
            "encoder_only": (True,),
            "speculative_algorithm": ("EAGLE", "NEXTN"),
            "enable_hierarchical_cache": (True,),
        },
        {"attention_projection_layout": (None, "fused_qkv", "fused_qkv", "split"), "num_key_value_heads": (1, 4, 8)},
        {"SGLANG_ENABLE_UNIFIED_RADIX_TREE": ("1", "0")},
    ),
    "attention": (
        (
            "Step3p5ForCausalLM",
            "MyStep3p5ForCausalLMNextN",
            "Step3p7ForConditionalGeneration",
            "Llama4ForConditionalGeneration",
            "Llama4ForCausalLM",
            "Gemma2ForCausalLM",
            "Gemma3nForConditionalGeneration",
            "Gemma4ForConditionalGeneration",
            "Gemma4UnifiedForConditionalGeneration",
            "MossVLForConditionalGeneration",
            "Exaone4ForCausalLM",
            "ExaoneMoEForCausalLM",
            "Olmo2ForCausalLM",
            "WhisperForConditionalGeneration",
            "Qwen3VLForConditionalGeneration",
        ),
        {**ATTENTION, "speculative_algorithm": ("EAGLE",), "speculative_eagle_topk": (1, 2)}
        | {"enable_hierarchical_cache": (True,), "moe_runner_backend": ("auto", "triton")}
        | {
            "quantization": ("fp8", "modelopt_fp8", "awq"),
            "device": ("cpu", "xpu"),
            "mem_fraction_static": (0.5, None),
        }
        | {"enable_deterministic_inference": (True,), "disable_radix_cache": (True,)},
        {
            "sliding_window_pattern": (None, 4, "LLLG"),
            "is_encoder_decoder": (False, True),
            "has_attention_sinks": (False, True),
            "context_len": (4096, 8193),
            "dual_chunk_attention_config": (None, None, {}),
        },
        {
            "SGLANG_USE_AITER_UNIFIED_ATTN": ("1", "0"),
            "SGLANG_EMBEDDINGS_SPARSE_HEAD": ("x", ""),
            "SGLANG_AITER_KV_CACHE_LAYOUT": ("vectorized_5d", "VECTORIZED_5D"),
        },
    ),
    "nemotron_h": (
        ("NemotronHForCausalLM", "NemotronHPuzzleForCausalLM"),
        {**MAMBA, **EXPERTS},
        {"mlp_hidden_act": ("relu2", "relu2", "silu"), "mamba_chunk_size": (None, 96, 128)},
        {},
    ),
    "hybrid": (
        (
            "KimiLinearForCausalLM",
            "BailingMoeV2_5ForCausalLM",
            "Qwen3MoeForCausalLM",
            "Qwen3VLMoeForConditionalGeneration",
            "Qwen3NextForCausalLM",
            "Qwen3_5MoeForConditionalGeneration",
            "InternS2PreviewForConditionalGeneration",
            "Qwen3_5ForConditionalGeneration",
            "MiniCPMV4_6ForConditionalGeneration",
            "FalconH1ForCausalLM",
            "JetNemotronForCausalLM",
            "JetVLMForConditionalGeneration",
            "GraniteMoeHybridForCausalLM",
            "Lfm2ForCausalLM",
            "ZayaForCausalLM",
        ),
        {**EXPERTS, **MAMBA},
        {"mamba_chunk_size": (None, 0, 96, 128), "layer_types": ([], ["mamba"], ["attention"])},
        {},
    ),
    "glm_minimax": (
        ("Glm4MoeForCausalLM", "Glm4MoeLiteForCausalLM", "MiniMaxM2ForCausalLM", "Qwen3ForCausalLM"),
        {**EXPERTS, "flashinfer_allreduce_fusion_backend": ("trtllm",), "nnodes": (1, 2)}
        | {"enable_flashinfer_allreduce_fusion": (True,), "enforce_disable_flashinfer_allreduce_fusion": (True,)},
        {},
        {"SGLANG_CUTLASS_MOE": ("1", "0")},
    ),
    "latent_attention": (
        ("DeepseekV2ForCausalLM", "LlamaForCausalLM", "DeepseekV3ForCausalLM"),
        {"attention_backend": _MLA, "prefill_attention_backend": _MLA, "decode_attention_backend": _MLA}
        | {"page_size": (16, 32, 64, 128), "kv_cache_dtype": ATTENTION["kv_cache_dtype"], "tp_size": (1, 8)},
        {"num_key_value_heads": (16, 128, 8), "dual_chunk_attention_config": (None, None, {})},
        {},
    ),
    "exchange": (
        ("LlamaForCausalLM", "Glm4MoeForCausalLM"),
        {
            "moe_a2a_backend": (
                "none",
                "deepep",
                "mooncake",
                "nixl",
                "mori",
                "ascend_fuseep",
                "flashinfer",
                "flashinfer",
                "megamoe",
            ),
            "moe_runner_backend": (
                "auto",
                "cutlass",
                "flashinfer_cutlass",
                "flashinfer_cutedsl",
                "flashinfer_trtllm_routed",
                "experimental_sgl_trtllm",
            ),
            "quantization": _QUANTIZATIONS,
            "tp_size": (1, 8),
            "dp_size": (1, 8, 8),
            "ep_size": (1, 8),
            "enable_dp_attention": (True,),
            "enable_dp_lm_head": (True,),
            "deepep_mode": ("auto", "normal"),
            "enable_deepep_waterfill": (True,),
            "disable_shared_experts_fusion": (True,),
            "chunked_prefill_size": (-1, 0, 512, None, 65536),
            "disaggregation_mode": ("null", "decode"),
            "pp_size": (1, 2),
        },
        {"gguf": (False, True)},
        {
            "SGLANG_NPU_FUSED_MOE_MODE": ("0", "1", "2", "two"),
            "SGLANG_MORI_NUM_MAX_DISPATCH_TOKENS_PER_RANK": ("0", "8192", "1_000", "?"),
            "SGLANG_CUTLASS_MOE": ("yes", "0", "maybe"),
            "SGLANG_OPT_USE_DEEPGEMM_MEGA_MOE": ("TRUE", "0"),
            "SGLANG_OPT_FIX_MEGA_MOE_MEMORY": ("0", ""),
            "SGLANG_MOE_NVFP4_DISPATCH": ("0", "True"),
        },
    ),
    "context": (
        ("DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM", "GlmMoeDsaForCausalLM", "DeepseekV4ForCausalLM"),
        CONTEXT,
        {"index_topk": (None, 2048)},
        {},
    ),
    "fp8_experts": (
        ("DeepseekV3ForCausalLM", "DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM"),
        {
            "quantization": ("unquant", "awq"),
            "moe_runner_backend": ("auto", "triton"),
            "moe_a2a_backend": ("deepep",),
        },
        {"fp8_weights": (False, True)},
        {},
    ),
    "fusion": (
        (*ALLREDUCE_FUSION_ARCHITECTURES, "PixtralForConditionalGeneration"),
        {"tp_size": (2, 2, 1), "nnodes": (1, 2), "enable_dp_attention": (True,), "dp_size": (2,)}
        | {"moe_a2a_backend": ("none", "deepep"), "disable_radix_cache": (True,)},
        {},
        {},
    ),
    "fp4_experts": (
        ("Glm4MoeForCausalLM", "Gemma4ForCausalLM", "Qwen3MoeForCausalLM", "LlamaForCausalLM"),
        {"quantization": ("modelopt_fp4",), "moe_runner_backend": ("auto", "triton", "flashinfer_cutedsl")}
        | {"moe_a2a_backend": ("none", "deepep", "nixl", "mori"), "tp_size": (1, 8), "ep_size": (1, 8)},
        {},
        {},
    ),
    "flashinfer_exchange": (
        ("LlamaForCausalLM",),
        {"tp_size": (8,), "dp_size": (8, 8, 2), "enable_dp_attention": (True,), "moe_a2a_backend": ("flashinfer",)}
        | {"moe_runner_backend": ("flashinfer_cutlass", "flashinfer_cutedsl", "triton")}
        | {"quantization": ("modelopt_fp4", "fp8")},
        {},
        {"SGLANG_MOE_NVFP4_DISPATCH": ("0", "1")},
    ),
    "npu": (
        ("LlamaForCausalLM", "DeepseekV3ForCausalLM"),
        {"device": ("npu",), "chunked_prefill_size": (None, None, 512), "tp_size": (8,), "dp_size": (2, 8)}
        | {"enable_dp_attention": (True,), "moe_a2a_backend": ("mori", "ascend_fuseep"), "page_size": (64,)},
        {},
        {"SGLANG_MORI_NUM_MAX_DISPATCH_TOKENS_PER_RANK": ("512", "4096", "8191")},
    ),
    "running": (
        ("LlamaForCausalLM", "DeepseekV3ForCausalLM", "DeepseekV2ForCausalLM", "SDARForCausalLM"),
        {
            "enable_deterministic_inference": (True,),
            "rl_on_policy_target": ("fsdp",),
            "dllm_algorithm": ("LowConfidence",),
            "attention_backend": _ATTENTION,
            "sampling_backend": ("ascend", "flashinfer", "pytorch"),
            "flashinfer_allreduce_fusion_backend": ("auto",),
            "tp_size": (1, 4),
            "page_size": (0, 1, 32, 64),
            "disable_radix_cache": (True,),
            "enable_mixed_chunk": (True,),
            "load_format": ("auto", "gguf", "dummy"),
            "quantization": ("fp8", "unquant"),
            "model_path": ("instance://there", "s3://bucket/instance://model", "a/b"),
            "enable_hierarchical_cache": (True,),
            "enable_lora": (True,),
            "disaggregation_mode": ("null", "decode"),
            "chunked_prefill_size": (None, 512),
            "device": (None, "cuda", "npu", "mps", "xpu", "hpu", "cpu"),
            "cuda_graph_config": (
                None,
                {},
                {"decode": {"backend": "disabled"}},
                {"prefill": {"backend": "disabled", "tc_compiler": None}},
                {"decode": {"max_bs": 4, "unheard": 1}, "neither": {"backend": "full"}},
            ),
        },
        {"gguf": (False, False, True), "dllm_block_size": (4, 32)},
        {
            "SGLANG_USE_MLX": ("1", "0"),
            "SGLANG_VLM_CACHE_SIZE_MB": ("0", "7"),
            "SGLANG_ENABLE_DETERMINISTIC_INFERENCE": ("True", "1"),
            "NCCL_ALGO": ("Ring", "allreduce:tree"),
            "SGLANG_NSA_PREFILL_DENSE_ATTN_KV_LEN_THRESHOLD": ("5",),
        },
    ),
}


def focused_cases(seed: int, per_family: int) -> Iterator[Case]:
    """Yield ``per_family`` cases of each family: the same for the same seed."""
    for family, (architectures, args, model, env) in FAMILIES.items():
        source = random.Random(f"{family}:{seed}")
        for number in range(per_family):
            described: dict[str, Any] = {name: source.choice(values) for name, values in model.items()}
            described["quantization_config"] = source.choice(_DECLARED)
            described["detected_quantization"] = source.choice((None, None, "modelopt", *_QUANTIZATIONS[:4]))
            described["attention"] = source.choice(("mha", "mla"))
            yield Case(
                id=f"{family}-{number}",
                args={name: source.choice(args[name]) for name in _some(source, args, 6)},
                hardware=source.choice(_MACHINES),
                model=msgspec.structs.replace(Model(architectures=[source.choice(architectures)]), **described),
                env={name: source.choice(env[name]) for name in _some(source, env, 3)},
            )


def _some(source: random.Random, pool: Pool, most: int) -> list[str]:
    return source.sample(list(pool), source.randrange(min(most, len(pool)) + 1))
