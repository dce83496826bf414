"""What is wrong in a plan or a state of a stack is told by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.stack.plan import load_plan
from codemods.stack.state import load_state
from codemods.stack.step import StepWork, planned_step, read_tree
from harness.common.errors import UsageError

PLAN = """
format = "stackproof.stack/1"
record = "legacy.server_args:ServerArgs"
codemods = ["pin_whitelist"]

[options.pin_whitelist]
path = 9

[gate]
modes = ["slice"]

[[step]]
name = "dtype"
fields = ["dtype"]
"""


def test_an_option_of_another_type(tmp_path: Path) -> None:
    (tmp_path / "stack.toml").write_text(PLAN)
    plan = load_plan(tmp_path / "stack.toml")
    root = Path(__file__).parents[3]
    index, facts = read_tree(root, plan.record, "legacy")
    work = StepWork(plan.record, ("dtype",), plan.codemods, (), plan.options)
    with pytest.raises(
        UsageError, match="codemod pin_whitelist: its option path is wrong: Expected `str`, got `int`"
    ):
        planned_step(index, facts, work, root, jobs=1)


def test_an_option_that_is_lacking() -> None:
    root = Path(__file__).parents[3]
    index, facts = read_tree(root, "legacy.server_args:ServerArgs", "legacy")
    work = StepWork("legacy.server_args:ServerArgs", ("dtype",), ("migrate_readers",))
    with pytest.raises(
        UsageError, match=r"codemod migrate_readers needs flags: give it in \[options.migrate_readers\]"
    ):
        planned_step(index, facts, work, root, jobs=1)


def test_a_state_without_steps_is_the_users_error(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"target": "legacy", "original": "legacy", "repository": "", "steps": []}')
    with pytest.raises(UsageError, match="not the whole state of a stack"):
        load_state(tmp_path)
