"""The gates that the port and its successor must pass, as a user would run them."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.report.terminal.resolution import resolve_launch
from harness.subjects.open import open_spec
from harness.subjects.sources import Tree
from harness.world.profiles import real_launches

pytestmark = pytest.mark.slow

CASES = 20_000
LEDGER = Path(__file__).parents[1] / "legacy/ledger.toml"
CHANGES = Path(__file__).parents[1] / "declarative/ledger.toml"


def gate(*words: str, status: int | None = 0) -> dict[str, Any]:
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "harness.cli",
            "gate",
            *words,
            "--cases",
            str(CASES),
            "--seed",
            "1",
            "--format",
            "json",
        ],
        capture_output=True,
        check=False,
    )
    assert status is None or run.returncode == status, run.stdout.decode() + run.stderr.decode()
    document: dict[str, Any] = json.loads(run.stdout)
    return document


@cache
def port_gate() -> dict[str, Any]:
    return gate("legacy", "sglang==0.5.14#slice", "--ledger", str(LEDGER))


@cache
def successor_gate() -> dict[str, Any]:
    return gate("legacy", "declarative")


@pytest.fixture
def result(release: Callable[[str], Tree], session_cache: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    release("0.5.14")
    monkeypatch.setenv("STACKPROOF_CACHE", str(session_cache))
    return port_gate()


@pytest.mark.index
def test_nothing_differs_but_what_the_ledger_explains(result: dict[str, Any]) -> None:
    assert result["verdict"] == "equivalent"
    assert result["buckets"] == []
    assert [entry["entry"] for entry in result["explained"]] == ["fa4-any-backend-field"]
    assert result["stale"] == []
    assert result["absent"] == {"enable_tf32_matmul": "sglang==0.5.14#slice"}
    assert result["counts"]["failed"] == 0


@pytest.mark.index
def test_every_write_site_of_the_port_ran(result: dict[str, Any]) -> None:
    port, _ = result["reach"]
    assert [site for site in port["writes"] if not site["count"] and "excuse" not in site] == []
    assert len([site for site in port["writes"] if "excuse" in site]) == 1
    assert port["outcomes"] >= 0.97 * 2 * port["decisions"]


@pytest.mark.index
def test_every_architecture_and_machine_was_drawn(result: dict[str, Any]) -> None:
    for drawn in result["drawn"].values():
        assert drawn["drawn"]
        assert drawn["never"] == []


@pytest.mark.index
def test_about_two_cases_in_five_are_refused(result: dict[str, Any]) -> None:
    assert 0.35 < result["counts"]["refused"] / CASES < 0.45


def test_the_successor_is_equivalent_without_any_ledger() -> None:
    result = successor_gate()
    assert result["verdict"] == "equivalent"
    assert result["counts"]["failed"] == 0
    assert len(result["compared"]) == 34
    # Words and all: both are ours.
    assert result["counts"]["refused"] > CASES / 4


def test_every_write_site_of_both_ran() -> None:
    for side in successor_gate()["reach"]:
        assert [site for site in side["writes"] if not site["count"] and "excuse" not in site] == []
        assert side["outcomes"] >= 0.97 * 2 * side["decisions"]


@pytest.mark.index
def test_what_0_5_15_changed_is_in_the_ledger(
    release: Callable[[str], Tree], session_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release("0.5.15")
    monkeypatch.setenv("STACKPROOF_CACHE", str(session_cache))
    result = gate("declarative", "sglang==0.5.15#slice", "--ledger", str(CHANGES), status=None)
    assert result["buckets"] == []
    assert (result["counts"]["different"], result["counts"]["failed"]) == (0, 0)
    assert len(result["explained"]) >= 10


def test_the_successor_takes_the_real_launches() -> None:
    # They are the first fourteen cases.
    assert not any(note.startswith("left out") for note in successor_gate()["notes"])


@pytest.mark.parametrize("subject", ["legacy", "declarative"])
def test_every_field_that_a_real_launch_changes_has_its_writers(subject: str) -> None:
    spec = open_spec(subject, answers=None, python=sys.executable, case_seconds=10, memory_mib=1024)
    shown, refused = 0, []
    for launch in real_launches():
        assignments = [f"{name}={shlex.quote(value)}" for name, value in launch.env.items()]
        lines: list[str] = []
        command = " ".join([*assignments, launch.command])
        assert resolve_launch([spec], launch.hardware, launch.model, [command], lines.append)
        if "refuses" in lines[1]:
            refused.append(launch.id)
        for line, following in zip(lines, [*lines[1:], ""], strict=True):
            if line.startswith("*") and "(environment)" not in line and "cuda_graph" not in line:
                field = line.split()[1]
                assert following.split()[:2] == [field, "="], (launch.id, line)
                assert f"({subject}/" in following
                shown += 1
    assert shown > 40
    # The release refuses it, too: extra buffers are for other machines.
    assert refused == ["qwen35-nextn-mi300x"]
