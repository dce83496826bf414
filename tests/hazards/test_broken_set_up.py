"""A pass that declares what it may not is a broken set-up, and no refusal of the user's arguments."""

from __future__ import annotations

from pathlib import Path

import pytest
from plants import Plant, planted

from harness.cli import app, guarded

pytestmark = pytest.mark.slow

EDITS = {
    "a field of another pass": (
        'return {"disable_overlap_schedule": True} if envs',
        'return {"page_size": 1} if not envs',
        "_sparse_head_overlap_disable declares 'page_size': it may declare disable_overlap_schedule",
    ),
    "a misspelt field": (
        'return {"disable_overlap_schedule": True} if envs',
        'return {"disable_overlap_shedule": True} if not envs',
        "_sparse_head_overlap_disable declares 'disable_overlap_shedule' (did you mean 'disable_overlap_schedule'?): "
        "it may declare disable_overlap_schedule",
    ),
    "no declaration at all": (
        'return {"disable_overlap_schedule": True} if envs',
        'return ["disable_overlap_schedule"] if not envs',
        "_sparse_head_overlap_disable must return a dict or None, not list",
    ),
}


@pytest.mark.parametrize(("old", "new", "fault"), EDITS.values(), ids=EDITS.keys())
@pytest.mark.parametrize("command", ["gate", "both", "resolve", "hazards"])
def test_the_command_ends_and_names_the_pass(
    command: str, old: str, new: str, fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = planted(Plant("", (("passes/overlap.py", old, new),), 1, ""), tmp_path)
    copy = f"dir:{folder}#declarative"
    words = {
        "gate": ["gate", "legacy", copy, "--cases", "200", "--jobs", "1"],
        # Two copies with the same fault do not agree: neither resolves anything.
        "both": ["gate", copy, copy, "--cases", "200", "--jobs", "2"],
        "resolve": ["resolve", "--subject", copy, "--hardware", "h100"],
        "hazards": ["hazards", "--subject", copy, "--cases", "20"],
    }[command]
    status = guarded(lambda: app(words, standalone_mode=False))
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert err.strip() == f"stackproof: {copy}: {fault}"
