"""The commands that the codemods bring: what they print, and one sentence for whatever a user can get wrong."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import typer
from stacks import PLAN, RECORD, contents, git, made_plan, made_repository, made_tree

from codemods.commands import register
from harness.cli.commands.explain import explain
from harness.cli.frame.app import guarded

ARGS = "sglang/srt/server_args.py"


class Run:
    """One run of the commands in this process."""

    def __init__(self, capfdbinary: pytest.CaptureFixture[bytes], *words: str) -> None:
        app = typer.Typer(pretty_exceptions_enable=False)
        app.command()(explain)
        register(app)
        capfdbinary.readouterr()
        self.status = guarded(lambda: app(list(words), standalone_mode=False))
        out, err = capfdbinary.readouterr()
        self.out, self.err = out.decode(), err.decode()


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]):  # type: ignore[no-untyped-def]
    return lambda *words: Run(capfdbinary, *words)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return made_tree(tmp_path / "target")


def test_the_entry_point_is_the_function_that_adds_the_commands() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    module, _, name = project["entry-points"]["stackproof.commands"]["codemods"].partition(":")
    assert getattr(import_module(module), name) is register


def test_what_the_commands_need_is_loaded_when_one_of_them_runs() -> None:
    program = (
        "import sys, typer; from codemods.commands import register; register(typer.Typer());"
        "print(sorted({'libcst', 'hypothesis', 'rich.console'} & sys.modules.keys()))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


# -- migrate


def test_migrate_prints_a_patch_that_git_applies_and_writes_nothing(run, target: Path) -> None:  # type: ignore[no-untyped-def]
    before = contents(target)
    done = run("migrate", "page_size", "--tree", str(target))
    assert done.status == 0
    assert contents(target) == before
    assert "writes   page_size: of 1 by assignment" in done.err
    assert "nothing was written" in done.err
    patch = target.parent / "step.patch"
    patch.write_text(done.out)
    made_repository(target)
    git(target, "apply", "--check", str(patch))


def test_migrate_writes_a_copy(run, target: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    before = contents(target)
    done = run("migrate", "page_size", "--tree", f"dir:{target}", "--out", str(tmp_path / "copy"))
    assert done.status == 0
    assert contents(target) == before
    after = contents(tmp_path / "copy")
    assert [name for name in before if after[name] != before[name]] == [ARGS]
    assert b"self.page_size = 64" not in after[ARGS]


def test_migrate_writes_a_clean_work_tree_in_place(run, target: Path) -> None:  # type: ignore[no-untyped-def]
    refused = run("migrate", "page_size", "--tree", str(target), "--in-place")
    assert refused.status == 2
    assert "--in-place needs a git work tree" in refused.err
    made_repository(target)
    assert run("migrate", "page_size", "--tree", str(target), "--in-place").status == 0
    assert f"M {ARGS}" in git(target, "status", "--porcelain")
    again = run("migrate", "sampling_backend", "--tree", str(target), "--in-place")
    assert again.status == 2
    assert "is not clean" in again.err


def test_migrate_takes_one_codemod_with_its_options(run, target: Path) -> None:  # type: ignore[no-untyped-def]
    done = run("migrate", "page_size", "--tree", str(target), "--record", RECORD, "--codemod", "add_runtime")
    assert done.status == 0
    assert "applied  add_runtime: 1" in done.err
    assert "record_writes" not in done.err
    assert f"--- a/{ARGS}" not in done.out


def test_a_codemod_that_reads_the_tree_anew_sees_what_those_before_it_made(run, target: Path) -> None:  # type: ignore[no-untyped-def]
    names = ("add_runtime", "record_writes", "lift_writes", "end_dual_apply")
    words = [word for name in names for word in ("--codemod", name)]
    done = run("migrate", "page_size", "--tree", str(target), "--record", RECORD, *words)
    assert done.status == 0
    assert "end_dual_apply: 1" in done.err
    assert '+    @applies_at_end("page_size")\n     def __post_init__' in done.out


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["page_sise"], ["no field 'page_sise'", "did you mean 'page_size'"]),
        (["page_size", "--codemod", "tagfield"], ["no codemod 'tagfield'", "did you mean 'tag_field'"]),
        (["page_size", "--option", "lift_writes"], ["not of the form CODEMOD.NAME=VALUE"]),
        (["page_size", "--option", "lift_writes.x=1"], ["lift_writes has no option 'x'"]),
        (["page_size", "--record", "app.args:Args"], ["holds no package 'app'"]),
        (["page_size", "--out", "x", "--in-place"], ["ask for opposite things"]),
        (["page_size", "--out", "/"], ["is there already"]),
        (["page_size", "--out", "no/such/folder"], ["does not exist"]),
    ],
)
def test_migrate_refuses_in_a_sentence(run, target: Path, words: list[str], parts: list[str]) -> None:  # type: ignore[no-untyped-def]
    before = contents(target)
    done = run("migrate", *words, "--tree", str(target))
    _is_refused(done, *parts)
    assert contents(target) == before


def test_a_tree_that_is_none_is_refused(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    _is_refused(run("migrate", "page_size", "--tree", str(tmp_path)), "no source tree in the folder")
    _is_refused(run("migrate", "page_size", "--tree", str(tmp_path / "none")), "did you mean 'dir:")
    _is_refused(run("migrate", "page_size", "--tree", "git:HEAD"), "is none that codemods work on")
    _is_refused(run("migrate", "page_size", "--tree", "declarative"), "is none that codemods work on")


# -- explain


def test_explain_shows_writers_readers_and_what_the_lift_leaves(run, target: Path) -> None:  # type: ignore[no-untyped-def]
    done = run("explain", "page_size", "--tree", str(target))
    assert done.status == 0
    assert "written in 1 places, read in 1" in done.out
    assert "_handle_page_size" in done.out
    assert "a step lifts 1 of 1 writes into passes, declares 0 in place and leaves 0" in done.out


def test_explain_gives_the_same_as_json(run, target: Path) -> None:  # type: ignore[no-untyped-def]
    words = ("--from", "_handle_page_size", "--to", "_handle_sampling_backend", "--format", "json")
    done = run("explain", "page_size", "--tree", str(target), *words)
    assert done.status == 0
    body = json.loads(done.out)
    assert body["fields"] == ["page_size"]
    assert [slot["name"] for slot in body["slots"]] == ["_handle_page_size", "_handle_sampling_backend"]
    assert [event["kind"] for event in body["events"]].count("write") == 1
    assert len(body["moves"]) == 1
    assert body["lift"] == {"before": 1, "after": 0, "recorded": 0, "lifted": 1, "left": []}


def test_explain_without_a_tree_is_as_configured(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "pyproject.toml").write_text(
        '[tool.stackproof]\nsubjects = ["legacy", "legacy"]\npython = "no-python"\n'
    )
    monkeypatch.chdir(tmp_path)
    done = run("explain", "page_size")
    assert done.status == 2
    assert "no-python" in done.err


def test_explain_without_a_tree_is_the_cores(run) -> None:  # type: ignore[no-untyped-def]
    done = run("explain", "page_size", "--subject", "legacy")
    assert done.status == 0
    assert done.out.startswith("legacy: page_size is written in")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--format", "json"], ["give --tree too"]),
        (["--to", "x"], ["--to is about a tree"]),
        (["--tree", "T", "--subject", "legacy"], ["--subject and --tree"]),
        (["--tree", "T", "--to", "1"], ["both --from and --to"]),
        (["--tree", "T", "--from", "_handle_pages", "--to", "1"], ["no slot '_handle_pages'", "_handle_page_size"]),
    ],
)
def test_explain_refuses_in_a_sentence(run, target: Path, words: list[str], parts: list[str]) -> None:  # type: ignore[no-untyped-def]
    _is_refused(run("explain", "page_size", *(str(target) if word == "T" else word for word in words)), *parts)


# -- stack


def test_stack_plan_shows_the_steps_and_writes_a_plan(run, target: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = run("stack", "plan", str(target), "--write", str(tmp_path / "stack.toml"))
    assert done.status == 0
    assert "page_size (1)" in done.out
    assert "left out, since nothing writes it here" in done.out
    again = run("stack", "plan", str(target), "--plan", str(tmp_path / "stack.toml"), "--format", "json")
    body = json.loads(again.out)
    assert [step["name"] for step in body["steps"]] == ["sampling-backend", "page-size"]
    assert body["writes"] == {"page_size": 1, "sampling_backend": 1}
    _is_refused(run("stack", "plan", str(target), "--write", str(tmp_path / "stack.toml")), "is there already")


def test_stack_runs_and_shows_where_it_stands(run, target: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    plan, out = made_plan(tmp_path / "plan.toml"), tmp_path / "out"
    done = run("stack", "run", str(target), "--out", str(out), "--plan", str(plan), "--cases", "100", "--jobs", "1")
    assert done.status == 0, done.err
    assert done.err == ""
    assert "done     sampling  1 writes → 0" in done.out
    assert "100 agree" in done.out
    status = run("stack", "status", str(out))
    assert status.status == 0
    assert "100 agree" in status.out
    step = run("stack", "status", str(out), "--step", "pages")
    assert "stack/02-pages" in step.out
    assert f"{ARGS} |" in step.out
    state = json.loads(run("stack", "status", str(out), "--format", "json").out)
    assert [item["status"] for item in state["steps"]] == ["done", "done"]
    assert run("stack", "resume", str(out)).status == 0
    _is_refused(run("stack", "status", str(out), "--step", "page"), "no step 'page'", "did you mean 'pages'")


def test_a_stack_that_stops_says_why_and_how_to_go_on(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    sampling = "from sglang.srt.utils.common import is_moon; self.sampling_backend = is_moon()"
    target = made_tree(tmp_path / "target", sampling)
    plan, out = made_plan(tmp_path / "plan.toml"), tmp_path / "out"
    done = run("stack", "run", str(target), "--out", str(out), "--plan", str(plan), "--cases", "50", "--jobs", "1")
    assert done.status == 3
    assert "is_moon" in done.out
    assert "the attempt is kept in failed/01-sampling" in done.out
    assert f"0 of 2 are done, stopped at sampling: stackproof stack resume {out}" in done.out


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["status", "NONE"], ["holds no stack"]),
        (["resume", "NONE"], ["holds no stack"]),
        (["run", "T", "--out", "T"], ["is there already"]),
        (["run", "T", "--out", "NONE/x"], ["does not exist"]),
        (["run", "T", "--out", "NONE", "--branches", "a b"], ["cannot begin a branch's name"]),
        (["run", "T", "--out", "NONE", "--plan", "NONE"], ["plan ", "No such file"]),
        (["run", "T", "--out", "NONE", "--python", "no-such-python"], ["no such interpreter"]),
        (["run", "git:HEAD", "--out", "NONE"], ["name the work tree"]),
        (["run", "sglang==0.5.14#slice", "--out", "NONE"], ["leave '#slice' off"]),
        (["run", "declarative", "--out", "NONE"], ["no plan comes with stackproof for 'declarative'"]),
    ],
)
def test_stack_refuses_in_a_sentence(  # type: ignore[no-untyped-def]
    run, target: Path, tmp_path: Path, words: list[str], parts: list[str]
) -> None:
    names = {"NONE": str(tmp_path / "none"), "NONE/x": str(tmp_path / "none" / "x"), "T": str(target)}
    done = run("stack", *(names.get(word, word) for word in words))
    _is_refused(done, *parts)
    assert not (tmp_path / "none").exists()


def test_a_plan_for_another_package_is_refused(run, target: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    plan = made_plan(tmp_path / "plan.toml", PLAN.replace("sglang.srt.", "legacy."))
    _is_refused(run("stack", "plan", str(target), "--plan", str(plan)), "for the package 'legacy'")


def _is_refused(done: Run, *parts: str) -> None:
    """Check the promise: status 2, nothing on standard output, one sentence that holds ``parts``."""
    assert done.status == 2, done.err
    assert done.out == ""
    assert done.err.startswith("stackproof: ")
    assert done.err.count("\n") == 1
    for part in parts:
        assert part in done.err, done.err
