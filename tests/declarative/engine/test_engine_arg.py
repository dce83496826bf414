"""Metadata and the whitelist."""

from __future__ import annotations

import pytest
from engine_records import WHITELIST, Record

from declarative.engine import resolvable_fields
from declarative.inputs.server_args import ServerArgs
from harness.world.slice import FIELDS


def test_the_whitelist_is_what_is_marked_resolvable() -> None:
    assert resolvable_fields(Record) == WHITELIST


def test_the_whitelist_of_the_arguments_is_exactly_the_28_fields() -> None:
    assert len(FIELDS) == 28
    assert sorted(resolvable_fields(ServerArgs)) == sorted(FIELDS)


def test_a_class_that_is_no_dataclass_has_no_whitelist() -> None:
    with pytest.raises(TypeError, match="int is no dataclass"):
        resolvable_fields(int)
