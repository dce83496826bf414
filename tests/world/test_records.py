"""The table of a server's arguments, and the two records that are made of it."""

from __future__ import annotations

import dataclasses
import typing

import pytest

import declarative
import legacy
from harness.world.records import ARGUMENTS, argument_specs, field_specs
from harness.world.slice import ENTRY_STATE, FIELDS


@pytest.mark.parametrize("record", [legacy.ServerArgs, declarative.ServerArgs], ids=["legacy", "declarative"])
def test_a_record_has_the_fields_of_the_table(record: type) -> None:
    hints = typing.get_type_hints(record)
    found = [(field.name, hints[field.name], field.default) for field in dataclasses.fields(record) if field.init]
    assert found == [(one.name, one.hint, dataclasses.MISSING if one.is_made else one.default) for one in ARGUMENTS]


def test_the_description_is_the_same_by_the_table_and_by_the_record() -> None:
    assert argument_specs() == field_specs(declarative.ServerArgs)
    assert list(argument_specs()) == [one.name for one in ARGUMENTS]


def test_fields_that_are_resolved_and_values_at_the_entry_are_arguments() -> None:
    assert set(FIELDS) - set(argument_specs()) == {"uses_mamba_radix_cache"}
    assert set(ENTRY_STATE) <= set(argument_specs())
    assert all(one.help.endswith(".") for one in ARGUMENTS)
