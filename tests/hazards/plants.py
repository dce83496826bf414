"""Faults of the fourteen kinds of `stack.md`, as changes of a copy of the package, and how a gate meets the copy."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import declarative
from harness.engine.campaign import Budget, Request, run_campaign
from harness.engine.result.events import Finished
from harness.subjects.open import open_spec
from harness.subjects.spec import SubjectSpec

HERE = Path(declarative.__file__).parent
UNCHECKED = ("pipeline.py", "order=constraints_of(ORDER)", "order=()")
"""An edit that every plant needs which changes the order: the check of the order would refuse it."""


@dataclass(frozen=True)
class Plant:
    """A fault, in words, and as edits of (file, text, text in its place); the cases within which a gate must see it.

    ``shows`` is a field, a variable or a kind of difference that is expected among those that the gate reports.
    """

    what: str
    edits: tuple[tuple[str, str, str], ...]
    cases: int
    shows: str


def planted(plant: Plant, folder: Path) -> Path:
    """Return ``folder``, which now holds a copy of the package with the fault."""
    shutil.copytree(HERE, folder / "declarative", ignore=shutil.ignore_patterns("__pycache__"))
    for file, old, new in plant.edits:
        path = folder / "declarative" / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{file} holds {text.count(old)} times {old!r}"
        assert new != old
        path.write_text(text.replace(old, new), encoding="utf-8")
    return folder


def gate(plant: Plant, folder: Path) -> Finished:
    """Return the result of ``stackproof gate legacy dir:COPY#declarative --seed 1`` with the plant's cases."""
    second = opened(f"dir:{planted(plant, folder)}#declarative")
    budget = Budget(cases=plant.cases)
    return run_campaign(Request(opened("legacy"), second, budget=budget, seed=1, jobs=1), lambda event: None)


@cache
def opened(text: str) -> SubjectSpec:
    """Return the subject named ``text``."""
    return open_spec(text, answers=None, python=sys.executable, case_seconds=10.0, memory_mib=2048)


_MAMBA_PASS = """@post_process(
    writes=("uses_mamba_radix_cache", "mamba_radix_cache_strategy", "disable_overlap_schedule"),
    when=architecture_in(*STATE_LAYER_ARCHITECTURES),
)
def _mamba_radix_cache_resolution(view: ResolvedView) -> Declaration | None:
"""
_MAMBA_PROVIDER = """@provider(
    writes=("uses_mamba_radix_cache", "mamba_radix_cache_strategy", "disable_overlap_schedule"),
)
def _mamba_radix_cache_resolution(arguments, model):
    view = SimpleNamespace(**vars(arguments) | {"model": model})
    return _mamba_choice(view)


def _mamba_choice(view):
"""
_TRTLLM_MLA = """    if not is_blackwell_supported():
        raise ValueError("trtllm_mla runs on Blackwell (SM100 and SM12x) alone: choose another backend")
"""
_TRTLLM_MLA_CACHE = """    if view.kv_cache_dtype not in ("fp8_e4m3", "fp4_e2m1", "bf16", "auto"):
        raise ValueError(f"trtllm_mla has no kernel for a KV cache of {view.kv_cache_dtype}")
"""

PLANTS = {
    "1-shadowing": Plant(
        "the NPU's defaults are replayed at the end, over the later writer of the attention backend",
        (
            (
                "passes/platforms.py",
                "_GIB: Final = 1024",
                """
@post_process(writes=("attention_backend",), when=on_device("npu"))
def _npu_defaults_replayed(view):
    return {"attention_backend": "ascend"}


_GIB: Final = 1024""",
            ),
            (
                "pipeline.py",
                "dllm._dllm_feature_disable)",
                "dllm._dllm_feature_disable, platforms._npu_defaults_replayed)",
            ),
        ),
        2000,
        "attention_backend",
    ),
    "2-half-applied-read": Plant(
        "the sparse kernels are chosen before the KV cache's type is resolved, so by the user's value",
        (
            UNCHECKED,
            ("pipeline.py", "            dsa._dsa_kv_cache_dtype_default,\n", ""),
            (
                "pipeline.py",
                "            dsa._dsa_split_backend_resolution,\n",
                "            dsa._dsa_split_backend_resolution,\n            dsa._dsa_kv_cache_dtype_default,\n",
            ),
        ),
        1000,
        "dsa_prefill_backend",
    ),
    "2-pristine-read": Plant(
        "passes after the providers read what was there before them, not what other passes declared",
        (
            (
                "engine/pipeline.py",
                "            _apply(step, declared, resolution, write_env)\n\n    def record(",
                "            _apply(step, declared, resolution, write_env)\n"
                "            if not isinstance(step, Pass):\n"
                "                view = self._view(dict(vars(view)))\n\n    def record(",
            ),
        ),
        1000,
        "attention_backend",
    ),
    "3-dispatch-too-early": Plant(
        "the states' prefix cache is chosen by a provider, so over pristine arguments",
        (
            UNCHECKED,
            ("passes/mamba.py", _MAMBA_PASS, _MAMBA_PROVIDER),
            (
                "passes/mamba.py",
                "from typing import Final\n",
                "from types import SimpleNamespace\nfrom typing import Final\n",
            ),
            ("passes/mamba.py", "import Declaration, post_process", "import Declaration, provider"),
            ("pipeline.py", "            mamba._mamba_radix_cache_resolution,\n", ""),
            (
                "pipeline.py",
                '        ("MiniMaxM2ForCausalLM", minimax_m2._minimax_m2_overrides),\n',
                '        ("MiniMaxM2ForCausalLM", minimax_m2._minimax_m2_overrides),\n'
                "        (mamba.STATE_LAYER_ARCHITECTURES, mamba._mamba_radix_cache_resolution),\n",
            ),
        ),
        1000,
        "mamba_radix_cache_strategy",
    ),
    "4-one-split-field": Plant(
        "fa4's page size looks at the prefill backend alone",
        (
            (
                "passes/page_size.py",
                '"fa4" in (view.attention_backend, view.decode_attention_backend, view.prefill_attention_backend)',
                'view.prefill_attention_backend == "fa4"',
            ),
        ),
        2000,
        "page_size",
    ),
    "5-wrong-object": Plant(
        "the quantization of the HF config is read where the derived model config's is needed",
        (
            (
                "families/hybrid.py",
                "view.model.config.quantization",
                '(view.model.hf_config.quantization_config or {}).get("quant_method")',
            ),
        ),
        1000,
        "quantization",
    ),
    "6-guard-gained": Plant(
        "the merged ep_size declaration asks for data parallel attention, too",
        (
            (
                "passes/a2a.py",
                '    return {"ep_size": view.tp_size}\n',
                '    return {"ep_size": view.tp_size} if view.enable_dp_attention else None\n',
            ),
        ),
        1000,
        "ep_size",
    ),
    "6-guard-lost": Plant(
        "the merged ep_size declaration no longer asks what flashinfer's exchange needs",
        (
            (
                "passes/a2a.py",
                '    if backend == "flashinfer":\n        assert view.enable_dp_attention',
                "    if False:\n        assert view.enable_dp_attention",
            ),
        ),
        1000,
        "refusals",
    ),
    "7-fallthrough-gained": Plant(
        "an elif became an if: on an NPU the branch of CUDA fires as well",
        (
            (
                "passes/dllm.py",
                "    elif view.cuda_graph_config.decode.backend",
                "    if view.cuda_graph_config.decode.backend",
            ),
        ),
        2000,
        "attention_backend",
    ),
    "8-exact-name": Plant(
        "a family of all names that contain one became a family of two exact names",
        (
            (
                "families/sliding_window.py",
                '"Step3p5ForCausalLM" in architecture or "Step3p7ForConditionalGeneration" in architecture',
                'architecture in ("Step3p5ForCausalLM", "Step3p7ForConditionalGeneration")',
            ),
        ),
        6000,
        "attention_backend",
    ),
    "8-predicate": Plant(
        "a list of exact names became a predicate, which holds for Gemma 4, too",
        (
            (
                "pipeline.py",
                "        (sliding_window.GEMMA_ARCHITECTURES, sliding_window._gemma2_gemma3_overrides),\n",
                "",
            ),
            (
                "pipeline.py",
                "predicates=((sliding_window.is_step3p_name, sliding_window._step3p_overrides),)",
                "predicates=((sliding_window.is_step3p_name, sliding_window._step3p_overrides),"
                ' (lambda name: "Gemma" in name, sliding_window._gemma2_gemma3_overrides))',
            ),
        ),
        1000,
        "disable_hybrid_swa_memory",
    ),
    "10-never-run": Plant(
        "a pass was left out of the list, and of the written order",
        (UNCHECKED, ("pipeline.py", "overlap._sparse_head_overlap_disable,", "")),
        2000,
        "disable_overlap_schedule",
    ),
    "10-order": Plant(
        "fa4's page size comes before the other kernels', and no order is checked",
        (
            UNCHECKED,
            ("pipeline.py", "            page_size._fa4_page_constraint,\n", ""),
            (
                "pipeline.py",
                "            page_size._mla_backend_page_constraints,\n",
                "            page_size._fa4_page_constraint,\n            page_size._mla_backend_page_constraints,\n",
            ),
        ),
        2000,
        "page_size",
    ),
    "11-opt-out-forgotten": Plant(
        "Qwen 3 detects the checkpoint's quantization although the user said unquant",
        (("families/qwen3.py", "not view._quantization_explicitly_unset and ", ""),),
        20000,
        "quantization",
    ),
    "12-check-order": Plant(
        "two checks of one pass in the other order: another error for the same launch",
        (("passes/page_size.py", _TRTLLM_MLA + _TRTLLM_MLA_CACHE, _TRTLLM_MLA_CACHE + _TRTLLM_MLA),),
        2000,
        "refusals",
    ),
    "12-check-order-of-passes": Plant(
        "two checks of two passes in the other order, and no order is checked",
        (
            UNCHECKED,
            ("pipeline.py", "            hybrid._first_layer_validation,\n", ""),
            (
                "pipeline.py",
                "            mamba._mamba_radix_cache_resolution,\n",
                "            hybrid._first_layer_validation,\n            mamba._mamba_radix_cache_resolution,\n",
            ),
        ),
        6000,
        "refusals",
    ),
    "13-environment-write-moved": Plant(
        "a variable is written before the pass that changes what it depends on",
        (
            (
                "passes/a2a.py",
                '@post_process(writes=("moe_a2a_backend",))',
                '@post_process(writes=("moe_a2a_backend",), env=("SGLANG_MOE_NVFP4_DISPATCH",))',
            ),
            (
                "passes/a2a.py",
                '    return None if backend == given else {"moe_a2a_backend": backend}\n',
                '    early = given == "flashinfer" and not envs.SGLANG_MOE_NVFP4_DISPATCH.is_set()\n'
                '    return {"moe_a2a_backend": backend} | ({"SGLANG_MOE_NVFP4_DISPATCH": True} if early else {})\n',
            ),
        ),
        2000,
        "SGLANG_MOE_NVFP4_DISPATCH",
    ),
    "14-probe-kept-from-the-first-case": Plant(
        "a module keeps a probe's first answer, and no later machine reaches it",
        (
            (
                "passes/page_size.py",
                "_CONSTRAINED: Final",
                "from functools import cache\n\nis_sm100_supported = cache(is_sm100_supported)\n_CONSTRAINED: Final",
            ),
        ),
        1000,
        "page_size",
    ),
}
"""By the number of the hazard in `stack.md`. Number 9, and a pass that runs twice, have tests of their own."""
