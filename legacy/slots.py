"""The handlers in the order in which they run, as one explicit tuple.

The order is that of ``ServerArgs.__post_init__`` in 0.5.14, without the handlers that write no field of the slice. A
slot has the name of what runs there in 0.5.14; the port gives statements of ``__post_init__`` methods of their own.
"""

from __future__ import annotations

from typing import Final

from harness.world.chain import SlotFunction
from legacy.server_args import ServerArgs

SLOTS: Final = (
    SlotFunction(0, "_handle_deprecated_args", ServerArgs._handle_deprecated_args),
    SlotFunction(1, "__post_init__ (quantization opt-out)", ServerArgs._handle_quantization_opt_out),
    SlotFunction(2, "_handle_hpu_backends", ServerArgs._handle_hpu_backends),
    SlotFunction(3, "_handle_cpu_backends", ServerArgs._handle_cpu_backends),
    SlotFunction(4, "_handle_npu_backends", ServerArgs._handle_npu_backends),
    SlotFunction(5, "_handle_mps_backends", ServerArgs._handle_mps_backends),
    SlotFunction(6, "_handle_xpu_backends", ServerArgs._handle_xpu_backends),
    SlotFunction(7, "__post_init__ (deterministic inference)", ServerArgs._handle_deterministic_fusion_opt_out),
    SlotFunction(8, "_handle_model_specific_adjustments", ServerArgs._handle_model_specific_adjustments),
    SlotFunction(9, "_handle_sampling_backend", ServerArgs._handle_sampling_backend),
    SlotFunction(10, "_handle_deterministic_inference", ServerArgs._handle_deterministic_inference),
    SlotFunction(11, "_handle_attention_backend_compatibility", ServerArgs._handle_attention_backend_compatibility),
    SlotFunction(12, "_handle_kv4_compatibility", ServerArgs._handle_kv4_compatibility),
    SlotFunction(13, "_handle_page_size", ServerArgs._handle_page_size),
    SlotFunction(14, "_handle_data_parallelism", ServerArgs._handle_data_parallelism),
    SlotFunction(15, "_handle_moe_kernel_config", ServerArgs._handle_moe_kernel_config),
    SlotFunction(16, "_handle_a2a_moe", ServerArgs._handle_a2a_moe),
    SlotFunction(17, "_handle_pipeline_parallelism", ServerArgs._handle_pipeline_parallelism),
    SlotFunction(18, "handle_speculative_decoding", ServerArgs._handle_speculative_moe_runner),
    SlotFunction(19, "_handle_load_format", ServerArgs._handle_load_format),
    SlotFunction(20, "_handle_dllm_inference", ServerArgs._handle_dllm_inference),
)
