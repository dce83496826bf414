"""One fault is one bucket: in a copy of the declarative side with one fault, all that differs is one cause."""

from __future__ import annotations

from pathlib import Path

import pytest
from plants import Plant, gate

pytestmark = pytest.mark.slow

FAULTS = {
    "a check whose message names the case's values": Plant(
        "GPT-OSS no longer goes with intel_xpu",
        (("families/gpt_oss.py", '"intel_amx", "intel_xpu", "aiter"', '"intel_amx", "aiter"'),),
        cases=2000,
        shows="refusals",
    ),
    "a value that several lines of the original write": Plant(
        "an exchange leaves the experts where they were",
        (("passes/a2a.py", 'return {"ep_size": view.tp_size}', "return None"),),
        cases=3000,
        shows="ep_size",
    ),
    "a check that comes before others": Plant(
        "the wrong exchange is held to data parallel attention",
        (
            (
                "passes/a2a.py",
                'if backend == "flashinfer":\n        assert view.enable_dp',
                'if backend != "flashinfer":\n        assert view.enable_dp',
            ),
        ),
        cases=1500,
        shows="refusals",
    ),
    "checks of one function that are gone": Plant(
        "no state cache without buffers is refused",
        (("passes/mamba.py", "_check_no_buffer(view, disables_overlap)\n    return", "pass\n    return"),),
        cases=1500,
        shows="refusal",
    ),
    "a default that later rules write over": Plant(
        "everywhere but on a Mac the default is the Mac's",
        (("passes/attention_backend.py", '"torch_native" if is_mps()', '"torch_native" if not is_mps()'),),
        cases=3000,
        shows="attention_backend",
    ),
    "a field that parts and comes together again": Plant(
        "Falcon-H1 is none of the Falcons",
        (("families/hybrid.py", '("FalconH1ForCausalLM", "Jet', '("Jet'),),
        cases=4000,
        shows="attention_backend",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_one_fault_is_one_bucket(name: str, tmp_path: Path) -> None:
    result = gate(FAULTS[name], tmp_path)
    (bucket,) = result.buckets
    assert FAULTS[name].shows in (bucket.difference.name, bucket.difference.kind)
    assert bucket.count == result.counts.different
    assert len(bucket.witness.args) <= 4
