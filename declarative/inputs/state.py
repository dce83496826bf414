"""The names of the state that passes may declare besides the resolvable fields.

Those of `harness.world.slice.STATE` are part of an outcome. The others are read by later passes, or by code that runs
after the resolution.
"""

from __future__ import annotations

from typing import Final

from harness.world.slice import STATE as OUTCOME_STATE

GRAPHS: Final = ("cuda_graph_config.decode.backend", "cuda_graph_config.prefill.backend")
"""The two settings that say what captures the CUDA graphs, one for each phase."""

STATE: Final = (
    *OUTCOME_STATE,
    "_quantization_explicitly_unset",
    "chunked_prefill_size",
    "cuda_graph_config.decode.max_bs",
    "cuda_graph_config.prefill.tc_compiler",
    "deepep_mode",
    "disable_custom_all_reduce",
    "disaggregation_mode",
    "dsa_prefill_cp_mode",
    "enable_aiter_allreduce_fusion",
    "enable_deterministic_inference",
    "enable_dsa_prefill_context_parallel",
    "enable_hierarchical_cache",
    "enable_lmcache",
    "enable_lora",
    "enforce_disable_flashinfer_allreduce_fusion",
    "enforce_shared_experts_fusion",
    "hicache_io_backend",
    "hicache_mem_layout",
    "max_running_requests",
    "pp_size",
    "schedule_conservativeness",
)
