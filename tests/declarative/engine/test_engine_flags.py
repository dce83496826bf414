"""The flags tier."""

from __future__ import annotations

import dataclasses

import pytest

from declarative.engine import LEAF_MAP, FlagError, Flags, FrozenFlagsError, leaf_of, resolvable_fields
from declarative.inputs.server_args import ServerArgs


def test_every_resolvable_field_has_a_leaf_with_the_default_of_the_arguments() -> None:
    flags, arguments = Flags(), ServerArgs(model_path="m")
    for field in resolvable_fields(ServerArgs):
        group, name = leaf_of(flags, field)
        assert getattr(group, name) == getattr(arguments, field), field
        assert (group is flags and name == field) or field in LEAF_MAP


def test_the_leaf_map() -> None:
    assert LEAF_MAP == {
        "attention_backend": "attn.backend",
        "prefill_attention_backend": "attn.prefill_backend",
        "decode_attention_backend": "attn.decode_backend",
        "moe_runner_backend": "moe.runner_backend",
    }
    flags = Flags()
    assert leaf_of(flags, "moe_runner_backend") == (flags.moe, "runner_backend")


def test_there_is_no_flag_that_no_field_resolves_to() -> None:
    flags = Flags()
    leaves = {leaf_of(flags, field) for field in ()} | {
        (type(leaf_of(flags, field)[0]), leaf_of(flags, field)[1]) for field in resolvable_fields(ServerArgs)
    }
    for group in (flags, flags.attn, flags.moe):
        for field in dataclasses.fields(group):
            if not dataclasses.is_dataclass(getattr(group, field.name)):
                assert (type(group), field.name) in leaves


def test_a_name_that_is_no_flag_is_refused_with_the_nearest() -> None:
    flags = Flags()
    with pytest.raises(FlagError, match=r"Flags has no flag 'page_sise' \(did you mean 'page_size'\?\)"):
        flags.page_sise = 1  # type: ignore[attr-defined]
    with pytest.raises(FlagError, match=r"AttnFlags has no flag 'backends' \(did you mean 'backend'\?\)"):
        flags.attn.backends = "fa3"  # type: ignore[attr-defined]
    assert flags == Flags()


def test_frozen_flags_refuse_writes_but_for_those_of_the_capture() -> None:
    flags = Flags()
    flags.page_size = 64
    flags.freeze()
    assert flags.frozen and flags.attn.frozen and flags.moe.frozen and not flags.capture.frozen
    for group, name in ((flags, "page_size"), (flags.attn, "backend"), (flags.moe, "runner_backend")):
        with pytest.raises(FrozenFlagsError, match=f"is frozen: '{name}'"):
            setattr(group, name, None)
    flags.capture.disable_dispose_tensor = True
    assert (flags.page_size, flags.capture.disable_dispose_tensor) == (64, True)


@pytest.mark.parametrize("is_frozen", [False, True])
def test_an_override_lasts_for_its_block_and_nests(is_frozen: bool) -> None:
    flags = Flags()
    if is_frozen:
        flags.freeze()
    with flags.override(page_size=64, dtype="half") as inner:
        assert inner is flags
        with flags.override(page_size=1), flags.attn.override(backend="fa3"):
            assert (flags.page_size, flags.dtype, flags.attn.backend) == (1, "half", "fa3")
        assert (flags.page_size, flags.attn.backend) == (64, None)
    assert flags.page_size is None and flags.dtype == "auto"
    assert flags.frozen is is_frozen


def test_an_override_ends_when_its_block_raises() -> None:
    flags = Flags()
    with pytest.raises(KeyError), flags.override(page_size=64):
        raise KeyError
    assert flags == Flags()


def test_an_override_with_one_unknown_name_changes_nothing() -> None:
    flags = Flags()
    with pytest.raises(FlagError, match="'page_sise'"), flags.override(page_size=64, page_sise=1):
        raise AssertionError("the block must not run")
    assert flags == Flags()
