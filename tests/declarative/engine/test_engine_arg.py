"""Metadata and the whitelist."""

from __future__ import annotations

import pytest
from engine_records import WHITELIST, Record

from declarative.engine import resolvable_fields
from declarative.inputs.server_args import ServerArgs, new_arguments
from harness.world.cuda_graph import CudaGraphConfig
from harness.world.records import field_specs
from harness.world.slice import FIELDS


def test_the_whitelist_is_what_is_marked_resolvable() -> None:
    assert resolvable_fields(Record) == WHITELIST


def test_the_whitelist_of_the_arguments_is_exactly_the_28_fields() -> None:
    assert len(FIELDS) == 28
    assert sorted(resolvable_fields(ServerArgs)) == sorted(FIELDS)


def test_a_class_that_is_no_dataclass_has_no_whitelist() -> None:
    with pytest.raises(TypeError, match="int is no dataclass"):
        resolvable_fields(int)


def test_a_record_made_the_quick_way_is_the_same() -> None:
    given = {"model_path": "a/b", "tp_size": 8, "device": None}
    quick = new_arguments(cuda_graph_config=CudaGraphConfig(), **given)
    assert quick == ServerArgs(cuda_graph_config=CudaGraphConfig(), **given)  # type: ignore[arg-type]
    # Every field with a default that is made anew is one that a case always gives.
    assert set(vars(quick)) >= {name for name, spec in field_specs(ServerArgs).items() if not spec.required}
