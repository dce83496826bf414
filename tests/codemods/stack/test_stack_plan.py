"""The plan of a stack: what a stack.toml may say, and the ones that come with the package."""

from __future__ import annotations

from pathlib import Path

import pytest
from stacks import PLAN

from codemods.stack.plan import default_plan, plan_text, read_plan
from declarative.engine.arg import resolvable_fields
from declarative.inputs.server_args import ServerArgs
from harness.common.errors import UsageError


def _read(text: str) -> object:
    return read_plan(text, "plan p.toml", Path())


@pytest.mark.parametrize("package", ["sglang", "legacy"])
def test_the_plans_that_come_with_us_move_what_the_successor_declares(package: str) -> None:
    plan = default_plan(package)
    assert set(plan.fields) == set(resolvable_fields(ServerArgs))
    assert len(plan.fields) == len(set(plan.fields)) == 28


def test_fields_that_nothing_writes_and_steps_without_fields_are_left_out() -> None:
    plan = default_plan("sglang", {"page_size", "dtype", "enable_multi_layer_eagle"})
    assert [(step.name, step.fields) for step in plan.steps] == [
        ("minimax-mimo", ("enable_multi_layer_eagle",)),
        ("dtype", ("dtype",)),
        ("page-size", ("page_size",)),
    ]


@pytest.mark.parametrize("text", [PLAN, PLAN.replace('fields = ["page_size"]', 'fields = ["a", "b"]\nledger = "l"')])
def test_a_plan_that_was_written_reads_as_the_same_plan(text: str) -> None:
    plan = _read(text)
    assert _read(plan_text(plan)) == plan  # type: ignore[arg-type]
    default = default_plan("sglang")
    assert _read(plan_text(default)) == default


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("stackproof.stack/1", "stackproof.stack/9", ["write format = 'stackproof.stack/1'"]),
        ("[gate]", "[gates]", ["unknown key 'gates'", "did you mean 'gate'"]),
        ("cases = 150", "case = 150", ["[gate]", "unknown key 'case'", "did you mean 'cases'"]),
        ("cases = 150", 'cases = "many"', ["Expected `int`"]),
        ("cases = 150", "cases = 0", ["at least one case"]),
        ('modes = ["slice"]', 'modes = ["slices"]', ["unknown mode 'slices'", "did you mean 'slice'"]),
        ('fields = ["page_size"]', "fields = []", ["step 'pages'", "moves no field"]),
        ('fields = ["page_size"]', 'fields = ["sampling_backend"]', ["both move 'sampling_backend'"]),
        ('name = "pages"', 'name = "sampling"', ["two steps are called 'sampling'"]),
        ('name = "pages"', 'name = "../pages"', ["cannot be a branch's"]),
        ('name = "pages"', 'title = "pages"', ["step 2", "unknown key 'title'"]),
        ('"lift_writes"', '"lift_write"', ["no codemod 'lift_write'", "did you mean 'lift_writes'"]),
        ("sglang.srt.server_args:ServerArgs", "ServerArgs", ["not of the form 'package.module:Class'"]),
        ("[[step]]", "[[step", ["not valid TOML"]),
    ],
)
def test_what_means_nothing_is_refused_in_a_sentence(old: str, new: str, parts: list[str]) -> None:
    assert old in PLAN
    with pytest.raises(UsageError) as caught:
        _read(PLAN.replace(old, new))
    assert str(caught.value).startswith("plan p.toml")
    assert "\n" not in str(caught.value)
    for part in parts:
        assert part in str(caught.value)


def test_a_plan_without_steps_or_for_an_unknown_package_is_refused() -> None:
    with pytest.raises(UsageError, match="it has no step"):
        _read(PLAN.partition("[[step]]")[0])
    with pytest.raises(UsageError, match=r"no plan comes with stackproof for 'sglan' .did you mean 'sglang'"):
        default_plan("sglan")


def test_the_port_is_the_slice_already() -> None:
    with pytest.raises(UsageError, match="legacy is the slice already"):
        _read(PLAN.replace(f"{'sglang.srt'}.server_args", "legacy.server_args").replace('"slice"', '"whole"'))
