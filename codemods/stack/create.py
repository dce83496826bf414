"""Makes the folder of a stack: the work tree, and the plan and state beside it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec

from codemods.reading.writes import WriteSite, write_sites
from codemods.stack.plan import PlannedStep, StackPlan, default_plan, load_plan, plan_text
from codemods.stack.repository import (
    Repository,
    check_clean,
    linked,
    new_repository,
    taken,
    unlinked,
    user_repository,
)
from codemods.stack.state import LEDGERS, PLAN, TREE, StackState, StepState, save_state
from codemods.stack.step import StepWork, made, read_tree
from codemods.stack.trees import copy_tree, subject_of
from harness.common.errors import UsageError
from harness.common.writing import write_atomically
from harness.engine.ledger.entries import load_ledger
from harness.formats.subjectname import OWN_PACKAGES, SLICE_SUFFIX, SubjectName
from harness.subjects.sources import locate


@dataclass(frozen=True)
class StackTarget:
    """The tree that a stack starts from.

    ``text`` is what the user wrote, ``name`` the subject that it means. The folder ``root`` holds the package.
    ``repository`` is the user's git repository that holds the folder; None if there is none, and the tree is copied.
    """

    text: str
    name: SubjectName
    root: Path
    repository: Repository | None

    @property
    def package(self) -> str:
        """The package whose record's fields move."""
        return self.name.package

    @property
    def only(self) -> str:
        """The package, if the rest of the folder is not part of the tree; empty if the whole folder is the tree."""
        return self.package if self.name.kind == "package" else ""

    @property
    def original(self) -> str:
        """The subject of the tree as it is before the first step, without a suffix."""
        return f"dir:{self.root}" if self.name.kind in ("dir", "package") else self.name.value

    @property
    def inside(self) -> str:
        """The path from the top of the work tree to ``root``, with forward slashes; empty if they are the same."""
        if self.repository is None:
            return ""
        place = self.root.resolve().relative_to(self.repository.path.resolve()).as_posix()
        return "" if place == "." else place


def find_target(text: str, cwd: Path, *, clean: bool = True) -> StackTarget:
    """Return the tree that ``text`` names: a release, ``legacy``, ``dir:PATH``, or the path of a folder.

    Raises UsageError when there is none, or, with ``clean``, when it is a git work tree that is not clean.
    """
    name = subject_of(text, cwd)
    if name.kind == "git":
        raise UsageError(f"target {text!r}: a step is made in files: name the work tree, 'dir:PATH'")
    if text.endswith(f"#{SLICE_SUFFIX}"):
        raise UsageError(f"target {text!r}: leave '#slice' off, the plan says in which modes a step is gated")
    tree = locate(name, cwd=cwd)
    repository = user_repository(tree.root.resolve()) if name.kind == "dir" else None
    if clean and repository is not None:
        check_clean(repository)
    return StackTarget(text, name, tree.root, repository)


class CheckedPlan(NamedTuple):
    """A plan that was checked against a tree: where the tree writes its fields, and what the user should know."""

    plan: StackPlan
    sites: tuple[WriteSite, ...]
    notes: tuple[str, ...]


def plan_for(target: StackTarget, path: Path | None = None) -> CheckedPlan:
    """Return the plan in the file ``path``, checked against the target's tree.

    Without a ``path`` it is the plan that comes with stackproof, for the fields that the tree writes.
    Raises UsageError for a field that the tree does not have and for an option that a codemod does not take.
    """
    notes: list[str] = []
    plan = load_plan(path) if path is not None else default_plan(target.package)
    if plan.package != target.package:
        raise UsageError(f"the plan is for the package {plan.package!r}, and {target.text} holds {target.package!r}")
    index, facts = read_tree(target.root, plan.record, target.only)
    sites = write_sites(index, facts, plan.fields)
    if path is None:
        written = {site.field for site in sites}
        missing = [name for name in plan.fields if name not in written]
        plan = default_plan(target.package, written)
        if missing:
            notes.append(f"left out, since nothing writes it here: {', '.join(missing)}")
    earlier: tuple[str, ...] = ()
    for step in plan.steps:
        try:
            work = StepWork(plan.record, step.fields, plan.of(step), earlier, plan.options)
            made(work, index, facts, sites)
        except UsageError as error:
            raise UsageError(f"step {step.name}: {error}") from None
        earlier = work.every
        if step.ledger:
            # Only to find its errors now; which names the two subjects have does not matter for that.
            load_ledger(plan.folder / step.ledger, {"original": "legacy", "migrated": "declarative"})
    return CheckedPlan(plan, tuple(sites), tuple(notes))


def create(folder: Path, target: StackTarget, plan: StackPlan, prefix: str) -> StackState:
    """Make the folder of a stack, with its plan and its state; `make_tree` adds the work tree.

    The branches of the steps begin with ``prefix``. Raises UsageError when the folder is there already or cannot be
    made, or when a branch of a step has a name in use.
    """
    steps = [
        StepState(name=step.name, fields=step.fields, branch=f"{prefix}/{number:02}-{step.name}")
        for number, step in enumerate(plan.steps, 1)
    ]
    _check_prefix(prefix)
    if target.repository is not None:
        used = taken(target.repository, [step.branch for step in steps])
        if used:
            raise UsageError(
                f"{target.repository.path} has the branch {used[0]!r} already: delete it, or choose other names with"
                " --branches PREFIX"
            )
        inside = folder.parent.resolve() / folder.name
        if inside.is_relative_to(target.repository.path.resolve()):
            raise UsageError(f"{folder} lies inside the work tree that is migrated: name a folder beside it")
    _make(folder)
    try:
        plan = _with_ledgers(folder, plan)
        write_atomically(folder / PLAN, plan_text(plan).encode())
        state = StackState(
            target=_lasting_name(target),
            original=target.original if target.name.kind == "release" else "",
            repository=str(target.repository.path) if target.repository is not None else "",
            inside=target.inside,
            steps=steps,
        )
        save_state(folder, state)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return state


def make_tree(folder: Path, state: StackState) -> None:
    """Make the work tree, and store the commit that the first step starts from in the state.

    What an interrupted try has left is made anew. Raises UsageError when the target is not there any more.
    """
    path = folder / TREE
    if state.own:
        target = find_target(state.target, folder)
        shutil.rmtree(path, ignore_errors=True)
        copy_tree(target.root, target.only, path)
        repository = new_repository(path)
        base = repository.commit_tree(f"{'The tree' if target.name.kind == 'dir' else target.text}, as it is\n", None)
        repository.move("original", base)
    else:
        user = Repository(Path(state.repository), own=False)
        if path.exists():
            unlinked(user, path)
        base = linked(user, path).head()
    state.base = base
    if not state.original:
        state.original = f"git:{base}"
    save_state(folder, state)


def _lasting_name(target: StackTarget) -> str:
    """Return a name of the target that means the same in whatever folder the stack is resumed."""
    if target.name.kind != "dir":
        return target.text
    return f"dir:{target.root}#{target.package}" if target.package in OWN_PACKAGES else f"dir:{target.root}"


def _check_prefix(prefix: str) -> None:
    parts = prefix.split("/")
    if not all(
        part and all(c.isalnum() or c in "-_." for c in part) and not part.startswith((".", "-")) for part in parts
    ):
        raise UsageError(f"--branches {prefix!r} cannot begin a branch's name: use letters, digits, '-', '_', '/'")


def _make(folder: Path) -> None:
    if folder.exists() or folder.is_symlink():
        raise UsageError(f"--out {folder} is there already: name a new folder, or go on there with 'stack resume'")
    try:
        folder.mkdir()
    except FileNotFoundError:
        raise UsageError(f"--out {folder}: the folder {folder.parent} does not exist") from None
    except OSError as error:
        raise UsageError(f"--out {folder} cannot be made: {error.strerror or error}") from None


def _with_ledgers(folder: Path, plan: StackPlan) -> StackPlan:
    """Copy the steps' ledgers into ``folder``, so that they are there when the stack is resumed."""
    steps: list[PlannedStep] = []
    for step in plan.steps:
        if step.ledger:
            (folder / LEDGERS).mkdir(exist_ok=True)
            shutil.copyfile(plan.folder / step.ledger, folder / LEDGERS / f"{step.name}.toml")
            step = msgspec.structs.replace(step, ledger=f"{LEDGERS}/{step.name}.toml")
        steps.append(step)
    return msgspec.structs.replace(plan, steps=tuple(steps))
