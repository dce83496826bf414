"""Where launches have no machine and no model, no report tells of one."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from made_results import result

from harness.engine.events import Finished
from harness.report.github import summary, workflow_commands
from harness.report.html.page import html
from harness.report.junit import junit
from harness.report.sarif import sarif
from harness.world.launch import Flags

REPORTS = (workflow_commands, summary, html, junit, sarif)


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.__name__)
def test_no_report_tells_of_a_machine_that_no_launch_has(report: Callable[[Finished], bytes]) -> None:
    usual = result()
    assert b"Llama" in report(usual)
    flags = Flags(program=("python:app:resolve",), takes=())
    found = report(msgspec.structs.replace(usual, started=msgspec.structs.replace(usual.started, flags=flags)))
    assert b"python:app:resolve" in found
    for word in (b"Llama", b"sglang.launch_server", b"org/model"):
        assert word not in found
