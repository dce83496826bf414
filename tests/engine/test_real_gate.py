"""The gate on real releases: what is known to differ is found with small witnesses, equals are equivalent."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest

from harness.engine.campaign import Budget, Request, run_campaign
from harness.engine.difference.buckets import Bucket
from harness.engine.difference.compare import writer_texts
from harness.engine.result.events import Finished
from harness.report.result.document import document
from harness.subjects.open import open_spec
from harness.subjects.sources.index import IndexUnreachable
from harness.world.probes import is_sm100_supported

pytestmark = [pytest.mark.index, pytest.mark.slow]

OLD, NEW = "sglang==0.5.14#slice", "sglang==0.5.15#slice"


@pytest.fixture(autouse=True)
def releases(session_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKPROOF_CACHE", str(session_cache))


@cache
def gate(first: str, second: str, cases: int, jobs: int = 2, seed: int = 1) -> Finished:
    try:
        specs = [
            open_spec(text, answers=None, python=sys.executable, case_seconds=10, memory_mib=2048)
            for text in (first, second)
        ]
    except IndexUnreachable as error:
        pytest.skip(f"the package index is out of reach: {error}")
    request = Request(*specs, budget=Budget(cases=cases), seed=seed, jobs=jobs)
    return run_campaign(request, lambda event: None)


def test_the_known_differences_are_found() -> None:
    result = gate(OLD, NEW, 20_000)
    assert result.verdict == "different"
    assert result.counts.failed == 0
    (fa4,) = (bucket for bucket in result.buckets if "_fa4_page_constraint" in written_by(bucket)[1])
    # Which of the two a sample of its forms shows is a matter of the draw.
    named = {
        field
        for case in (fa4.witness, *fa4.others)
        for field in ("attention_backend", "decode_attention_backend")
        if case.args.get(field) == "fa4" and is_sm100_supported(case.hardware)
    }
    assert named
    (dllm,) = (bucket for bucket in result.buckets if "_dllm_page_size" in written_by(bucket)[1])
    assert dllm.difference.name == "page_size"
    assert "dllm_algorithm" in dllm.witness.args
    (glm,) = (bucket for bucket in result.buckets if "_glm4_moe_overrides" in written_by(bucket)[1])
    assert (glm.difference.name, glm.difference.first, glm.difference.second) == (
        "moe_runner_backend",
        "auto",
        "flashinfer_trtllm",
    )
    assert "disable_shared_experts_fusion" in glm.difference.along
    assert glm.witness.model.architectures == ["Glm4MoeForCausalLM"]
    assert is_sm100_supported(glm.witness.hardware)
    assert any(bucket.difference.kind == "refusals" for bucket in result.buckets)


def written_by(bucket: Bucket) -> tuple[str, str]:
    writers = bucket.difference.writers
    return ("", "") if writers is None else writer_texts(writers)


def test_a_cause_is_one_bucket() -> None:
    result = gate(OLD, NEW, 20_000)
    shared = [bucket.shared for bucket in result.buckets if bucket.shared]
    assert len(set(shared)) == len(shared)
    assert sum(bucket.count for bucket in result.buckets) == result.counts.different


def test_witnesses_are_small() -> None:
    result = gate(OLD, NEW, 20_000)
    assert max(len(bucket.witness.args) for bucket in result.buckets) <= 4


def test_the_field_that_came_between_is_absent() -> None:
    assert gate(OLD, NEW, 20_000).started.absent == {"enable_tf32_matmul": OLD}


def test_one_job_or_two_is_the_same() -> None:
    assert document(gate(OLD, NEW, 750, jobs=1)) == document(gate(OLD, NEW, 750, jobs=2))


@pytest.mark.parametrize("release", ["0.5.14", "0.5.15", "0.5.15.post1", "0.5.16"])
@pytest.mark.parametrize("suffix", ["", "#slice"])
def test_a_release_does_not_differ_from_itself(release: str, suffix: str) -> None:
    result = gate(f"sglang=={release}{suffix}", f"sglang=={release}{suffix}", 750)
    assert (result.counts.different, result.counts.failed) == (0, 0), missing(result.buckets)
    # So few cases do not come to all that is written.
    assert result.verdict == "inconclusive"
    assert "never ran" in result.reason


def test_with_enough_cases_it_is_equivalent() -> None:
    assert gate(OLD, OLD, 20_000).verdict == "equivalent"


def missing(buckets: tuple[Bucket, ...]) -> list[tuple[object, object]]:
    return [
        (bucket.difference.first, bucket.difference.second)
        for bucket in buckets
        if bucket.difference.kind == "failure"
    ]


@pytest.mark.parametrize("suffix", ["", "#slice"])
@pytest.mark.parametrize(("first", "second"), [("0.5.14", "0.5.15"), ("0.5.15.post1", "0.5.16")])
def test_every_case_of_two_releases_has_an_outcome(first: str, second: str, suffix: str) -> None:
    result = gate(f"sglang=={first}{suffix}", f"sglang=={second}{suffix}", 750, seed=3)
    assert result.counts.failed == 0, missing(result.buckets)


def test_the_real_launches_come_first_and_none_is_left_out() -> None:
    for suffix in ("", "#slice"):
        result = gate(f"sglang==0.5.14{suffix}", f"sglang==0.5.16{suffix}", 14)
        assert not any(note.startswith("left out") for note in result.started.notes)
        assert result.counts.cases == 14
        assert result.counts.failed == 0
