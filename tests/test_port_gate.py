"""The gate that the port must pass: against the release that it ports, as a user would run it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.subjects.sources import Tree

pytestmark = pytest.mark.index

CASES = 20_000
LEDGER = Path(__file__).parents[1] / "legacy/ledger.toml"


@pytest.fixture
def result(release: Callable[[str], Tree], session_cache: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    release("0.5.14")
    monkeypatch.setenv("STACKPROOF_CACHE", str(session_cache))
    return gate()


@cache
def gate() -> dict[str, Any]:
    words = ["gate", "legacy", "sglang==0.5.14#slice", "--cases", str(CASES), "--seed", "1"]
    run = subprocess.run(
        [sys.executable, "-m", "harness.cli", *words, "--ledger", str(LEDGER), "--format", "json"],
        capture_output=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout.decode() + run.stderr.decode()
    document: dict[str, Any] = json.loads(run.stdout)
    return document


def test_nothing_differs_but_what_the_ledger_explains(result: dict[str, Any]) -> None:
    assert result["verdict"] == "equivalent"
    assert result["buckets"] == []
    assert [entry["entry"] for entry in result["explained"]] == ["fa4-any-backend-field"]
    assert result["stale"] == []
    assert result["absent"] == {"enable_tf32_matmul": "sglang==0.5.14#slice"}
    assert result["counts"]["failed"] == 0


def test_every_write_site_of_the_port_ran(result: dict[str, Any]) -> None:
    port, _ = result["reach"]
    assert [site for site in port["writes"] if not site["count"] and "excuse" not in site] == []
    assert len([site for site in port["writes"] if "excuse" in site]) == 1
    assert port["outcomes"] >= 0.97 * 2 * port["decisions"]


def test_every_architecture_and_machine_was_drawn(result: dict[str, Any]) -> None:
    for drawn in result["drawn"].values():
        assert drawn["drawn"]
        assert drawn["never"] == []


def test_about_two_cases_in_five_are_refused(result: dict[str, Any]) -> None:
    assert 0.35 < result["counts"]["refused"] / CASES < 0.45
