"""The runner: a commit a step, the target left alone; what fails or is interrupted costs nothing that was done."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import libcst as cst
import pytest
from stacks import OPTIONS, PLAN, contents, git, made_plan, made_repository, made_stack, made_tree, run

from codemods.frame.codemod import Change, Codemod
from codemods.mods import codemod_named
from codemods.reading.source import SourceFile
from codemods.stack.events import GateProgress, StackEvent, StepEnded, StepWorking
from codemods.stack.run import run_stack
from codemods.stack.state import StackState, held, load_state
from harness.common.errors import UsageError
from harness.engine.result import events as gate_events

pytestmark = pytest.mark.slow

ARGS = "sglang/srt/server_args.py"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A folder with a made-up tree, in no repository."""
    return made_tree(tmp_path / "target")


@pytest.fixture
def stack(tmp_path: Path, target: Path) -> Path:
    """A stack of two steps for it that has not run."""
    return made_stack(tmp_path / "out", str(target), made_plan(tmp_path / "plan.toml"))


class Finished(NamedTuple):
    """A stack that has run: its folder, its state, and the target with what it held before."""

    folder: Path
    state: StackState
    target: Path
    before: dict[str, bytes]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """The stack of the fixture ``stack``, run without a break; leave it as it is."""
    root = tmp_path_factory.mktemp("finished")
    target = made_tree(root / "target")
    before = contents(target)
    folder = made_stack(root / "out", str(target), made_plan(root / "plan.toml"))
    outcome, state = run(folder)
    assert outcome == "done"
    return Finished(folder, state, target, before)


@dataclass
class Replaces(Codemod):
    """Replaces a text by another: what a wrong codemod does."""

    summary: ClassVar[str] = "a text becomes another"

    old: str
    new: str

    def words(self) -> tuple[str, ...]:
        """Return the text."""
        return (self.old,)

    def apply(self, module: cst.Module, source: SourceFile) -> Change:
        """Return the module with the other text."""
        return Change(cst.parse_module(module.code.replace(self.old, self.new)), 1)


@pytest.fixture
def replacing(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    """Return a function that gives a plan whose second step also replaces a text."""

    def named(name: str) -> Any:
        return Replaces if name == "replaces" else codemod_named(name)

    for module in ("plan", "step"):
        monkeypatch.setattr(f"codemods.stack.{module}.codemod_named", named)

    def plan(old: str, new: str) -> str:
        own = 'codemods = ["add_runtime", "record_writes", "replaces"]'
        return (
            PLAN.replace('name = "pages"', f'name = "pages"\n{own}')
            + f"\n[options.replaces]\nold = {old!r}\nnew = {new!r}\n"
        )

    return plan


def test_each_step_is_a_commit_on_a_branch_and_the_target_stays_as_it_was(finished: Finished) -> None:
    stack, state, target, before = finished
    assert contents(target) == before
    assert [(step.status, step.before, step.after) for step in state.steps] == [("done", 1, 0), ("done", 1, 0)]
    assert [step.lifted + step.recorded for step in state.steps] == [1, 1]
    tree = stack / "tree"
    first, second = (step.commit for step in state.steps)
    assert git(tree, "rev-parse", "stack/01-sampling", "stack/02-pages").split() == [first, second]
    assert git(tree, "rev-parse", f"{second}^", f"{first}^").split() == [first, state.base]
    assert git(tree, "status", "--porcelain") == ""
    now = contents(tree)
    assert [name for name in before if now[name] != before[name]] == [ARGS]
    assert state.totals is not None
    assert (state.totals.before, state.totals.after) == (2, 0)


def test_the_message_says_what_moved_what_was_left_and_what_the_gate_said(finished: Finished) -> None:
    state = finished.state
    message = git(finished.folder / "tree", "log", "-1", "--format=%B", "stack/01-sampling")
    lines, words = message.splitlines(), " ".join(message.split())
    assert lines[0] == "Declare sampling_backend"
    assert lines[1] == ""
    assert f"  {ARGS}" in lines
    (verdict,) = state.steps[0].verdicts
    assert (verdict.verdict, verdict.cases, verdict.seed, verdict.reached) == ("equivalent", 150, 1, verdict.sites)
    assert verdict.words in words
    assert "seed 1" in message
    assert "tag_field does not apply" in message
    assert lines[-1] == "After https://example.org/pull/1"
    for item in state.steps[0].left:
        assert item.reason in words


def test_the_same_stack_has_the_same_commits_wherever_it_runs(finished: Finished, stack: Path) -> None:
    _, state = run(stack)
    assert state.base == finished.state.base
    assert state.steps == finished.state.steps


def test_a_red_gate_stops_the_stack_with_witnesses_and_keeps_the_attempt_aside(
    tmp_path: Path, target: Path, replacing: Callable[[str, str], str]
) -> None:
    plan = made_plan(tmp_path / "plan.toml", replacing("64 if", "65 if"))
    stack = made_stack(tmp_path / "out", str(target), plan)
    outcome, state = run(stack)
    assert outcome == "different"
    done, stopped = state.steps
    assert (done.status, stopped.status, stopped.commit) == ("done", "stopped", "")
    tree = stack / "tree"
    assert git(tree, "rev-parse", "HEAD") == done.commit
    assert git(tree, "status", "--porcelain") == ""
    assert "stack/02-pages" not in git(tree, "branch", "--list", "stack/*")
    kept = stack / stopped.kept
    assert "65 if" in (kept / "attempt.patch").read_text()
    assert (kept / "result.json").is_file()
    assert [path.name for path in kept.glob("*.jsonl")]
    # The attempt can be had back.
    git(tree, "apply", "--check", str(kept / "attempt.patch"))
    # The plan is mended, and the stack goes on from where it stood.
    made_plan(stack / "stack.toml", (stack / "stack.toml").read_text().replace(', "replaces"', ""))
    outcome, state = run(stack)
    assert outcome == "done"
    assert [step.status for step in state.steps] == ["done", "done"]
    assert state.steps[0].commit == done.commit


def test_a_tree_that_cannot_be_imported_stops_the_stack(
    tmp_path: Path, target: Path, replacing: Callable[[str, str], str]
) -> None:
    plan = made_plan(tmp_path / "plan.toml", replacing("import dataclasses", "import dataclasses, no_such_module_x"))
    stack = made_stack(tmp_path / "out", str(target), plan)
    outcome, state = run(stack)
    assert outcome == "different"
    assert state.steps[1].status == "stopped"
    assert "no_such_module_x" in state.steps[1].reason
    assert "no_such_module_x" in (stack / state.steps[1].kept / "attempt.patch").read_text()
    assert git(stack / "tree", "status", "--porcelain") == ""


def test_an_inconclusive_gate_stops_the_stack(tmp_path: Path) -> None:
    target = made_tree(
        tmp_path / "target", "from sglang.srt.utils.common import is_moon; self.sampling_backend = is_moon()"
    )
    stack = made_stack(tmp_path / "out", str(target), made_plan(tmp_path / "plan.toml"))
    outcome, state = run(stack)
    assert outcome == "inconclusive"
    assert state.steps[0].status == "stopped"
    assert state.steps[0].verdicts[0].verdict == "inconclusive"
    assert git(stack / "tree", "rev-parse", "HEAD") == state.base


class Interrupts:
    """A listener that ends the run at the n-th event for which ``at`` holds."""

    def __init__(self, at: Callable[[StackEvent], bool], number: int) -> None:
        self._at = at
        self._left = number

    def __call__(self, event: StackEvent) -> None:
        """Take one event; raises KeyboardInterrupt."""
        if self._at(event):
            self._left -= 1
            if not self._left:
                raise KeyboardInterrupt


def _starts_gate(event: StackEvent) -> bool:
    return isinstance(event, GateProgress) and isinstance(event.event, gate_events.Started)


def _works(event: StackEvent) -> bool:
    return isinstance(event, StepWorking)


def _ends_step(event: StackEvent) -> bool:
    return isinstance(event, StepEnded)


@pytest.mark.parametrize(("at", "number"), [(_works, 1), (_works, 2), (_starts_gate, 2), (_ends_step, 1)])
def test_a_run_that_was_interrupted_goes_on(
    stack: Path, finished: Finished, at: Callable[[StackEvent], bool], number: int
) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_stack(stack, OPTIONS, Interrupts(at, number))
    there = load_state(stack)
    assert not all(step.is_over for step in there.steps) or there.totals is None
    if (stack / "tree" / ".git").is_dir():
        # What a git that was killed leaves behind.
        (stack / "tree" / ".git" / "index.lock").touch()
    outcome, state = run(stack)
    assert outcome == "done"
    assert state.steps == finished.state.steps
    assert git(stack / "tree", "status", "--porcelain") == ""


def test_what_somebody_changed_in_the_work_tree_is_kept_as_a_patch(stack: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_stack(stack, OPTIONS, Interrupts(_starts_gate, 2))
    (stack / "tree" / "notes.txt").write_text("mine\n")
    run(stack)
    (patch,) = (stack / "interrupted").iterdir()
    assert "+mine" in patch.read_text()
    assert patch.name == "pages.patch"
    assert not (stack / "tree" / "notes.txt").exists()


def test_a_users_repository_gets_branches_and_keeps_its_work_tree(tmp_path: Path) -> None:
    # The package is where sglang has it.
    target = tmp_path / "target"
    target.mkdir()
    made_tree(target / "python")
    (target / ".gitignore").write_text("*.log\n")
    made_repository(target)
    before, head = contents(target), git(target, "rev-parse", "HEAD")
    stack = made_stack(tmp_path / "out", str(target), made_plan(tmp_path / "plan.toml"))
    outcome, state = run(stack)
    assert outcome == "done"
    assert contents(target) == before
    assert git(target, "status", "--porcelain") == ""
    assert git(target, "rev-parse", "HEAD", "--abbrev-ref", "HEAD").split() == [head, "main"]
    assert state.original == f"git:{head}"
    assert git(target, "rev-parse", "stack/02-pages^^") == head
    assert f"python/{ARGS}" in git(target, "diff", "--name-only", "main", "stack/02-pages").splitlines()
    assert git(target, "log", "-1", "--format=%an", "stack/02-pages") == "A User"


@pytest.mark.parametrize("change", ["change", "untracked", "no commit"])
def test_a_work_tree_that_is_not_clean_is_refused(tmp_path: Path, target: Path, change: str) -> None:
    if change == "no commit":
        git(target, "init", "-q", ".")
    else:
        made_repository(target)
        path = target / (ARGS if change == "change" else "sglang/new.py")
        path.write_text("x = 1\n")
    with pytest.raises(UsageError, match=r"is not clean|has no commit yet"):
        made_stack(tmp_path / "out", str(target), made_plan(tmp_path / "plan.toml"))
    assert not (tmp_path / "out").exists()


def test_branches_that_are_there_are_refused(tmp_path: Path, target: Path) -> None:
    made_repository(target)
    git(target, "branch", "stack/02-pages")
    with pytest.raises(UsageError, match="has the branch 'stack/02-pages' already"):
        made_stack(tmp_path / "out", str(target), made_plan(tmp_path / "plan.toml"))
    assert not (tmp_path / "out").exists()


def test_a_step_that_is_done_cannot_be_changed_in_the_plan(finished: Finished, tmp_path: Path) -> None:
    stack = tmp_path / "copy"
    shutil.copytree(finished.folder, stack)
    made_plan(stack / "stack.toml", PLAN.replace('"sampling_backend"', '"tp_size"'))
    with pytest.raises(UsageError, match="step 'sampling' is done already"):
        run(stack)


def test_two_processes_do_not_work_on_one_stack(stack: Path) -> None:
    with held(stack), pytest.raises(UsageError, match="another process works on the stack"):
        run(stack)


def test_a_field_or_an_option_that_is_not_there_is_refused_before_there_is_a_folder(
    tmp_path: Path, target: Path
) -> None:
    for old, new, match in (
        ('"page_size"', '"page_sise"', "step pages: .* no field 'page_sise' .did you mean 'page_size'"),
        ("[gate]", "[options.lift_writes]\nforced = true\n\n[gate]", "lift_writes has no option 'forced'"),
        ('"page_size"]', '"page_size"]\nledger = "none.toml"', "none.toml"),
    ):
        plan = made_plan(tmp_path / "wrong.toml", PLAN.replace(old, new))
        with pytest.raises(UsageError, match=match):
            made_stack(tmp_path / "out", str(target), plan)
        assert not (tmp_path / "out").exists()


def test_the_finished_tree_is_held_against_further_subjects(tmp_path: Path, target: Path) -> None:
    other = made_tree(tmp_path / "other", "self.sampling_backend = 'flashinfer'")
    also = f'also = ["dir:{target}#slice", "dir:{other}#slice"]'
    plan = made_plan(tmp_path / "plan.toml", PLAN.replace("[gate]", f"[gate]\n{also}").rpartition("[[step]]")[0])
    stack = made_stack(tmp_path / "out", str(target), plan)
    outcome, state = run(stack)
    assert outcome == "different"
    assert [step.status for step in state.steps] == ["done"]
    assert [(verdict.against, verdict.verdict) for verdict in state.also] == [
        (f"dir:{target}#slice", "equivalent"),
        (f"dir:{other}#slice", "different"),
    ]
    assert (stack / "failed" / "at-the-end" / "result.json").is_file()
    # They are not gated again.
    events: list[StackEvent] = []
    assert run(stack, events.append) == ("different", state)
    assert not any(isinstance(event, GateProgress) for event in events)
