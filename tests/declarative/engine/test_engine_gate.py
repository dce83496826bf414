"""The gate: everything is checked before anything is written."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from declarative.engine import (
    DeclarationError,
    FlagError,
    Flags,
    FrozenFlagsError,
    Provenance,
    apply_model_overrides,
    leaf_of,
    resolvable_fields,
)
from declarative.inputs.server_args import ServerArgs

WHITELIST = resolvable_fields(ServerArgs)
values = st.none() | st.integers() | st.text(max_size=3)
declarations = st.lists(
    st.tuples(st.sampled_from("abc"), st.dictionaries(st.sampled_from(WHITELIST), values, max_size=3)), max_size=5
)


def leaf(flags: Flags, field: str) -> Any:
    group, name = leaf_of(flags, field)
    return getattr(group, name)


@given(declarations, declarations)
def test_every_whitelisted_field_becomes_a_leaf_and_the_last_writer_wins(
    declared: list[tuple[str, dict[str, Any]]], terminal: list[tuple[str, dict[str, Any]]]
) -> None:
    flags, arguments = Flags(), ServerArgs(model_path="m", page_size=16)
    before = copy.deepcopy(arguments)
    log = apply_model_overrides(flags, arguments, declared, whitelist=WHITELIST, terminal=terminal)
    assert arguments == before
    current = {field: getattr(arguments, field) for field in WHITELIST}
    for entry, (source, field, value) in zip(
        log, ((s, f, v) for s, d in (*declared, *terminal) for f, v in d.items()), strict=True
    ):
        assert entry == Provenance(source, field, current[field], value)
        current[field] = value
    assert {field: leaf(flags, field) for field in WHITELIST} == current


@given(declarations, st.integers(0, 5), st.booleans())
def test_nothing_is_written_when_one_declaration_is_invalid(
    declared: list[tuple[str, dict[str, Any]]], place: int, is_terminal: bool
) -> None:
    flags, arguments = Flags(), ServerArgs(model_path="m", page_size=16)
    bad = ("culprit", {"page_size": 1, "tp_size": 8})
    ordered = [*declared[:place], *(() if is_terminal else (bad,)), *declared[place:]]
    with pytest.raises(DeclarationError, match="culprit declares 'tp_size'"):
        apply_model_overrides(flags, arguments, ordered, whitelist=WHITELIST, terminal=[bad] if is_terminal else [])
    assert flags == Flags()


def test_something_that_is_no_mapping_is_refused() -> None:
    flags = Flags()
    broken: Any = [("fine", {"dtype": "half"}), ("culprit", ["page_size"])]
    with pytest.raises(DeclarationError, match="culprit declares list"):
        apply_model_overrides(flags, ServerArgs(model_path="m"), broken, whitelist=WHITELIST)
    assert flags == Flags()


def test_the_terminal_stage_applies_after_all() -> None:
    flags = Flags()
    log = apply_model_overrides(
        flags,
        ServerArgs(model_path="m"),
        [("a pass", {"page_size": 64})],
        whitelist=WHITELIST,
        terminal=[("enforced", {"page_size": 1})],
    )
    assert flags.page_size == 1
    assert log[-1] == Provenance("enforced", "page_size", 64, 1)


def test_a_field_without_a_leaf_is_named_and_nothing_is_written() -> None:
    flags, arguments = Flags(), ServerArgs(model_path="m", page_size=16)
    with pytest.raises(FlagError, match="'tp_size' has no flag"):
        apply_model_overrides(flags, arguments, [], whitelist=(*WHITELIST, "tp_size"))
    with pytest.raises(FlagError, match="no group 'nowhere'"):
        apply_model_overrides(flags, arguments, [], whitelist=WHITELIST, leaf_map={"dtype": "nowhere.dtype"})
    assert flags == Flags()


def test_frozen_flags_are_not_resolved() -> None:
    flags = Flags()
    flags.attn.freeze()
    with pytest.raises(FrozenFlagsError, match="AttnFlags is frozen"):
        apply_model_overrides(flags, ServerArgs(model_path="m", page_size=16), [], whitelist=WHITELIST)
    assert flags.page_size is None
