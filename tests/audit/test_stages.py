"""Faults of half-applied reads read what they say: the case's own arguments, or what is resolved so far."""

from __future__ import annotations

from typing import Any

import pytest

from declarative.inputs.server_args import ServerArgs
from harness.audit.stages import GIVEN, RESOLVED, given, resolved
from harness.world.case import Case
from harness.world.records import field_specs
from harness.world.slice import resolve_slice


def run(case: Case, body: Any) -> None:
    outcome = resolve_slice(case, arguments=field_specs(ServerArgs), record=ServerArgs, run=body, root="")
    assert outcome.error is None, outcome.error


def test_given_is_the_record_before_anything_was_written() -> None:
    seen = []

    def body(record: ServerArgs) -> None:
        record.page_size = 64
        record.cuda_graph_config.decode.backend = "tc_piecewise"
        seen.append(eval(GIVEN))
        seen.append(given())

    run(Case(id="c", args={"page_size": 1, "tp_size": 8}), body)
    for record in seen:
        assert (record.page_size, record.tp_size, record.attention_backend) == (1, 8, None)
        assert record.cuda_graph_config.decode.backend != "tc_piecewise"


def test_resolved_is_what_views_show() -> None:
    class Resolution:
        def __init__(self) -> None:
            self.values = {"page_size": 64}

    def provider() -> tuple[int, int]:
        return eval(RESOLVED).page_size, resolved().page_size

    def body(record: ServerArgs) -> None:
        resolution = Resolution()
        assert provider() == (64, 64)
        del resolution

    run(Case(id="c", args={"page_size": 1}), body)
    with pytest.raises(AttributeError, match="page"):
        resolution = Resolution()
        assert resolved().page == resolution


def test_outside_a_resolution_there_is_neither() -> None:
    with pytest.raises(RuntimeError, match="no case is being resolved"):
        given()
    with pytest.raises(RuntimeError, match="nothing is being resolved"):
        resolved()
