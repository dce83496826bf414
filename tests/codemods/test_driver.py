"""The driver: the same result with any number of processes, nothing written but where it is told to."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.frame.driver import run, run_in
from codemods.mods import codemod_named
from codemods.mods.add_runtime import AddRuntime
from codemods.mods.record_writes import RecordWrites
from codemods.mods.tag_field import TagField
from codemods.reading.files import FolderTree, copied, write
from codemods.reading.record import read_facts
from harness.common.errors import UsageError

ARGS = (
    "from typing import Annotated as A\n\n\nclass Arg:\n    help: str\n    no_cli: bool = False\n\n\n"
    'class Args:\n    size: A[int, Arg(help="Size.")] = 1\n\n    def _handle(self):\n        self.size = 2\n'
)


@pytest.fixture
def app(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "app" / ".hidden").mkdir(parents=True)
    (root / "app" / "args.py").write_text(ARGS)
    (root / "app" / ".hidden" / "hook.py").write_text("def f(server_args):\n    server_args.size = 1\n")
    for number in range(12):
        (root / "app" / f"hook_{number}.py").write_text(f"def f(server_args):\n    server_args.size = {number}\n")
    (root / "app" / "broken.py").write_text("def f(server_args):\n    server_args.size = (\n")
    return root


def test_the_result_does_not_depend_on_the_number_of_processes(app: Path) -> None:
    facts = read_facts(FolderTree(app), "app.args:Args")
    codemods = [AddRuntime(facts), TagField(facts, ("size",)), RecordWrites(facts, ("size",))]
    one, two = (run(FolderTree(app), codemods, jobs=jobs) for jobs in (1, 2))
    assert one == two
    assert one.counts == {"add_runtime": 1, "tag_field": 2, "record_writes": 13}
    assert list(one.unreadable) == ["app/broken.py"]
    assert (app / "app" / "args.py").read_text() == ARGS


def test_a_step_is_written_where_it_is_told_to_and_nowhere_else(app: Path, tmp_path: Path) -> None:
    target = copied(app, tmp_path / "copy")
    (target / "app" / "hook_1.py").chmod(0o755)
    facts = read_facts(FolderTree(target), "app.args:Args")
    result = run_in(target, [AddRuntime(facts), RecordWrites(facts, ("size",))])
    assert sorted(result.changed) == sorted(["app/args.py", "app/overrides_runtime.py", *_hooks()])
    assert "declare(self" in (target / "app" / "args.py").read_text()
    assert (target / "app" / "hook_1.py").stat().st_mode & 0o777 == 0o755
    assert (app / "app" / "args.py").read_text() == ARGS
    assert not list(target.rglob(".codemod-*"))
    again = read_facts(FolderTree(target), "app.args:Args")
    assert not run_in(target, [AddRuntime(again), RecordWrites(again, ("size",))]).changed


def _hooks() -> list[str]:
    return [f"app/hook_{number}.py" for number in range(12)]


def test_what_a_user_can_get_wrong_is_said_in_a_sentence(app: Path, tmp_path: Path) -> None:
    tree = FolderTree(app)
    facts = read_facts(tree, "app.args:Args")
    with pytest.raises(UsageError, match="did you mean 'size'"):
        TagField(facts, ("siz",))
    with pytest.raises(UsageError, match="did you mean 'record_writes'"):
        codemod_named("record_write")
    with pytest.raises(UsageError, match=r"no module 'app.arg'.*'app.args'"):
        read_facts(tree, "app.arg:Args")
    with pytest.raises(UsageError, match=r"no class 'Argz'.*'Args'"):
        read_facts(tree, "app.args:Argz")
    with pytest.raises(UsageError, match="does not parse"):
        read_facts(tree, "app.broken:Args")
    with pytest.raises(UsageError, match=r"package\.module:Class"):
        read_facts(tree, "Args")
    with pytest.raises(UsageError, match="is no folder"):
        FolderTree(tmp_path / "none")
    with pytest.raises(UsageError, match="there already"):
        copied(app, app)
    with pytest.raises(UsageError, match="leads out"):
        write(app, {"../out.py": b""})
