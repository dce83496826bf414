"""The JUnit report, as another package reads it."""

from __future__ import annotations

import junitparser
import msgspec
from hypothesis import given
from hypothesis import strategies as st
from made_results import HOSTILE, result
from small_results import finished

from harness.engine.result.events import Counts
from harness.report.ci.junit import junit


def cases(data: bytes) -> dict[str, junitparser.TestCase]:
    (suite,) = junitparser.JUnitXml.fromstring(data)
    return {case.name: case for case in suite}


def test_one_case_a_field_and_one_for_the_gate() -> None:
    read = junitparser.JUnitXml.fromstring(junit(result()))
    assert (read.tests, read.failures, read.errors, read.skipped) == (7, 3, 1, 1)
    found = cases(junit(result()))
    names = ["verdict", "page_size", "dtype", "ep_size", "stuck", "(refusal)", "enable_tf32_matmul"]
    assert list(found) == names
    kinds = [type(case.result[0]).__name__ if case.result else "passed" for case in found.values()]
    assert kinds == ["Failure", "Failure", "passed", "passed", "Error", "Failure", "Skipped"]


def test_a_field_that_differs_says_how_to_see_it() -> None:
    (failure,) = cases(junit(result()))["page_size"].result
    launch = "python3 -m sglang.launch_server --model-path org/model --tp 2"
    assert failure.message == f"differs in 3 cases, such as {launch}"
    assert "  old  1   as given" in failure.text
    assert "  new  128   by page_pass (server/passes.py:2)" in failure.text
    assert f"  try      stackproof resolve --subject new --hardware h100 --model '{{}}' -- {launch}" in failure.text


def test_a_gated_field_is_in_error_with_its_places_and_where_nothing_resolved() -> None:
    (error,) = cases(junit(result()))["stuck"].result
    assert error.message.startswith("no case reached stuck in ")
    nothing = finished()
    started = msgspec.structs.replace(nothing.started, compared=("page_size",), gated=("page_size",))
    nothing = msgspec.structs.replace(nothing, started=started, counts=Counts(refused=3))
    (error,) = cases(junit(nothing))["page_size"].result
    assert error.message == "no case reached a place that writes it"


def test_an_equivalent_gate_has_no_failure() -> None:
    read = junitparser.JUnitXml.fromstring(junit(finished()))
    assert (read.failures, read.errors) == (0, 0)


def test_markup_stays_text() -> None:
    (failure,) = cases(junit(result(HOSTILE)))["page_size"].result
    assert "</script><script>alert(1)" in failure.text


@given(st.text())
def test_whatever_a_subject_says_is_xml(text: str) -> None:
    junitparser.JUnitXml.fromstring(junit(result(text, text or "E")))
