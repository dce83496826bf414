"""Where launches have no machine and no model, no report tells of one."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from made_results import result

from harness.engine.result.events import Finished
from harness.formats.launch import LaunchFlags
from harness.report.ci.github import summary, workflow_commands
from harness.report.ci.junit import junit
from harness.report.ci.sarif import sarif
from harness.report.html.page import html

REPORTS = (workflow_commands, summary, html, junit, sarif)


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.__name__)
def test_no_report_tells_of_a_machine_that_no_launch_has(report: Callable[[Finished], bytes]) -> None:
    usual = result()
    assert b"Llama" in report(usual)
    flags = LaunchFlags(program=("python:app:resolve",), takes=())
    found = report(msgspec.structs.replace(usual, started=msgspec.structs.replace(usual.started, flags=flags)))
    assert b"python:app:resolve" in found
    for word in (b"Llama", b"sglang.launch_server", b"org/model"):
        assert word not in found
