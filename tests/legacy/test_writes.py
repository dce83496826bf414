"""Every write of the original has one in the port: counted in the source, field by field."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import legacy

PACKAGE = Path(legacy.__file__).parent

# Assignments in 0.5.14 to self.<field>, or server_args.<field> in the hooks, inside the slice.
EXPECTED = {
    "attention_backend": 41,
    "attn_cp_size": 3,
    "decode_attention_backend": 1,
    "disable_hybrid_swa_memory": 4,
    "disable_overlap_schedule": 5,
    "disable_shared_experts_fusion": 5,
    "dsa_decode_backend": 6,
    "dsa_prefill_backend": 6,
    "dtype": 2,
    "enable_dp_attention": 4,
    "enable_dp_lm_head": 1,
    "enable_multi_layer_eagle": 2,
    "ep_size": 9,
    "flashinfer_allreduce_fusion_backend": 4,
    "kv_cache_dtype": 5,
    "mamba_radix_cache_strategy": 2,
    "moe_a2a_backend": 4,
    "moe_dense_tp_size": 3,
    "moe_runner_backend": 22,
    "page_size": 18,
    "prefill_attention_backend": 3,
    "quantization": 10,
    "sampling_backend": 4,
    "speculative_moe_a2a_backend": 2,
    "speculative_moe_runner_backend": 3,
    "swa_full_tokens_ratio": 2,
    "uses_mamba_radix_cache": 2,
}


def targets(node: ast.expr) -> Iterator[ast.Attribute]:
    if isinstance(node, ast.Tuple | ast.List):
        for item in node.elts:
            yield from targets(item)
    elif isinstance(node, ast.Attribute):
        yield node


def writes(*owners: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assign):
                assigned = node.targets
            elif isinstance(node, ast.AugAssign | ast.AnnAssign):
                assigned = [node.target]
            else:
                continue
            for target in (attribute for item in assigned for attribute in targets(item)):
                if isinstance(target.value, ast.Name) and target.value.id in owners and target.attr in legacy.FIELDS:
                    found[target.attr] += 1
    return found


def test_the_writes_of_the_slice_are_the_originals() -> None:
    found = writes("self", "server_args")
    assert found.pop("enable_tf32_matmul") == 1  # the intended difference
    assert found == EXPECTED
    assert found.total() == 173


def test_the_npu_hook_writes_four_more() -> None:
    assert writes("args") == {
        "attention_backend": 1,
        "prefill_attention_backend": 1,
        "decode_attention_backend": 1,
        "page_size": 1,
    }


def test_no_write_hides_behind_setattr() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.name != "cuda_graph.py":
            assert "setattr(" not in path.read_text(encoding="utf-8").replace("getattr(", ""), path
