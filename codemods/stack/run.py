"""Runs a stack: for each step, applies it, imports the tree, gates it and commits; can resume an interrupted run.

The state is written before each phase, and a step is done once the state holds its commit. If a run is interrupted
before that, the next one keeps what it finds in the work tree as a patch, and does the step from its start.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn

from codemods.frame.driver import run as run_codemods
from codemods.mods import codemod_named
from codemods.reading.facts import RecordFacts
from codemods.reading.index import TreeIndex
from codemods.reading.writes import counted, write_sites
from codemods.stack.commit_message import message_of
from codemods.stack.create import make_tree
from codemods.stack.events import GateProgress, StackEnded, StackListener, StepEnded, StepStarted, StepWorking
from codemods.stack.gate import (
    NotImported,
    check_import,
    ledger_for,
    migrated_spec,
    run_gate,
    verdict_of,
)
from codemods.stack.plan import PlannedStep, StackPlan, load_plan
from codemods.stack.repository import Repository
from codemods.stack.state import (
    CORPUS,
    FAILED,
    INTERRUPTED,
    PLAN,
    TREE,
    StackState,
    StepState,
    WriteTotals,
    held,
    load_state,
    save_state,
)
from codemods.stack.step import AppliedStep, StepWork, apply_step, read_tree, reasons_of
from harness.common.errors import UsageError
from harness.common.writing import write_atomically
from harness.engine.ledger.entries import Ledger
from harness.engine.options import GateOptions
from harness.engine.result.events import Finished, Listener
from harness.report.result.document import save_result
from harness.subjects.sources.git import GitFailed
from harness.subjects.spec import SubjectSpec

StackOutcome = Literal["done", "different", "inconclusive"]


class Stopped(Exception):
    """A step failed; the tree is as it was before the step."""

    def __init__(self, outcome: StackOutcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


def run_stack(folder: Path, options: GateOptions, listener: StackListener, *, force: bool = False) -> StackOutcome:
    """Do the steps of the stack in ``folder`` that are left, and return the outcome.

    Raises UsageError when the folder, its plan or its work tree is not what the state says, when another process is
    at work there, and when git or the disk refuses. KeyboardInterrupt is passed on. In each case the stack can be
    resumed.
    """
    # Fails for a folder without a stack, before a lock file is made in it.
    load_state(folder)
    with held(folder):
        try:
            return _Run(folder, options, listener, force).run()
        except Stopped as stopped:
            return stopped.outcome
        except GitFailed as error:
            raise UsageError(
                f"git refused in {folder / TREE}: {error}; when that is mended, go on with 'stack resume'"
            ) from None


class _Attempt(NamedTuple):
    """A step that is being done; ``number`` counts from 1, and ``parent`` is the commit that it starts from."""

    step: PlannedStep
    state: StepState
    number: int
    parent: str


class _Run:
    def __init__(self, folder: Path, options: GateOptions, listener: StackListener, force: bool) -> None:
        self._folder = folder.absolute()
        self._options = options
        self._tell = listener
        self._force = force
        self._state: StackState = load_state(folder)
        self._plan: StackPlan = load_plan(folder / PLAN)
        self._take_plan()

    def _take_plan(self) -> None:
        """Adapt the state to a plan that was edited since; raises UsageError if that changes a finished step."""
        states = {step.name: step for step in self._state.steps}
        branch = self._state.steps[0].branch.rpartition("/")[0]
        taken = []
        for number, step in enumerate(self._plan.steps):
            known = states.get(step.name)
            over = number < len(self._state.steps) and self._state.steps[number].is_over
            if over and (known is not self._state.steps[number] or known.fields != step.fields):
                raise UsageError(
                    f"{self._folder / PLAN}: step {self._state.steps[number].name!r} is done already: leave it in its"
                    " place as it was, and change those after it"
                )
            if known is None or not known.is_over:
                known = StepState(name=step.name, fields=step.fields, branch=f"{branch}/{number + 1:02}-{step.name}")
            taken.append(known)
        if any(step.is_over for step in self._state.steps[len(taken) :]):
            raise UsageError(f"{self._folder / PLAN}: a step that is done is missing at its end")
        self._state.steps = taken

    # -- the whole

    def run(self) -> StackOutcome:
        """Do all steps that are left, then count the writes and gate the tree against the plan's further subjects."""
        if not self._state.base:
            self._tell(StepWorking("making the work tree"))
            make_tree(self._folder, self._state)
        self._repository = Repository(self._folder / TREE, own=self._state.own)
        parent = self._recovered(self._repository)
        earlier: tuple[str, ...] = ()
        for number, (step, state) in enumerate(zip(self._plan.steps, self._state.steps, strict=True), 1):
            if not state.is_over:
                self._tell(StepStarted(state, number, len(self._plan.steps)))
                self._step(_Attempt(step, state, number, parent), earlier)
            parent = state.commit or parent
            earlier += step.fields
        if self._state.totals is None or len(self._state.also) < len(self._plan.gate.also):
            self._tell(StepWorking("counting what is left"))
            index, facts = read_tree(self._folder / TREE / self._state.inside, self._plan.record)
            self._state.totals = self._counted(index, facts, earlier)
            save_state(self._folder, self._state)
            self._also(index, facts)
        self._tell(StackEnded(self._state))
        verdicts = {verdict.verdict for verdict in self._state.also}
        return "different" if "different" in verdicts else "inconclusive" if "inconclusive" in verdicts else "done"

    def _recovered(self, repository: Repository) -> str:
        """Make the work tree and the branches what the state says they are; return the last finished commit."""
        over = [step for step in self._state.steps if step.commit and step.is_over]
        for step in over:
            if not repository.is_commit(step.commit):
                raise UsageError(f"the commit {step.commit[:12]} of step {step.name!r} is not in {repository.path}")
        parent = over[-1].commit if over else self._state.base
        there = repository.branches()
        for step in over:
            if step.branch not in there:
                repository.move(step.branch, step.commit)
        repository.unlock()
        if over and repository.head() != parent:
            # The run was killed after it wrote the state and before it moved the branch, or somebody has checked out
            # another commit.
            repository.release(parent)
        current = next((step for step in self._state.steps if not step.is_over), None)
        self._clean(repository, parent, current.name if current else "end")
        return parent

    def _clean(self, repository: Repository, commit: str, name: str) -> None:
        """Restore the files of ``commit``; changes are kept as a patch, which is called after the step ``name``."""
        if repository.changes():
            path = _fresh(self._folder / INTERRUPTED, f"{name}.patch")
            write_atomically(path, repository.patch().encode(errors="surrogateescape"))
        repository.restore(commit)

    # -- one step

    def _step(self, attempt: _Attempt, earlier: tuple[str, ...]) -> None:
        """Do one step and commit it; ``earlier`` are the fields that moved before. Raises Stopped."""
        step, state, repository = attempt.step, attempt.state, self._repository
        state.verdicts, state.reason, state.kept = (), "", ""
        self._enter(state, "applying")
        self._tell(StepWorking("applying " + ", ".join(self._plan.of(step))))
        work = StepWork(
            self._plan.record, step.fields, self._plan.of(step), earlier, self._plan.options, force=self._force
        )
        root = repository.path / self._state.inside
        applied = apply_step(root, work, top=repository.path, jobs=self._options.processes)
        self._note(state, applied)
        if not applied.result.changed:
            self._enter(state, "unchanged")
            self._tell(StepEnded(state))
            return
        self._enter(state, "gating")
        self._gate(attempt, applied)
        message = message_of(step, applied, state.left, state.verdicts)
        state.commit = repository.commit_tree(message, attempt.parent)
        self._keep_corpora()
        self._enter(state, "done")
        repository.move(state.branch, state.commit)
        self._tell(StepEnded(state))

    def _enter(self, state: StepState, status: Literal["applying", "gating", "done", "unchanged", "stopped"]) -> None:
        state.status = status
        save_state(self._folder, self._state)

    def _note(self, state: StepState, applied: AppliedStep) -> None:
        counts = applied.counts(state.fields)
        state.before, state.after = counts["before"], counts["after"]
        state.recorded, state.lifted = counts["recorded"], counts["lifted"]
        state.left = applied.left(state.fields)
        state.notes = (*applied.notes, *applied.unread)

    def _gate(self, attempt: _Attempt, applied: AppliedStep) -> None:
        """Import the tree and gate it in each mode; raises Stopped."""
        state = attempt.state
        done = [item for item, known in zip(self._plan.steps, self._state.steps, strict=True) if known.is_over]
        for mode in self._plan.gate.modes:
            migrated = self._migrated(mode, applied.index, applied.facts)
            self._tell(StepWorking("importing the tree"))
            try:
                check_import(migrated)
            except NotImported as error:
                self._stop(attempt, "different", str(error))
            original = self._original(mode)
            ledger = ledger_for(self._plan, [*done, attempt.step], original.label, migrated.label)
            finished = self._gated(mode, mode, original, migrated, ledger)
            verdict = verdict_of(finished, mode)
            state.verdicts = (*state.verdicts, verdict)
            save_state(self._folder, self._state)
            if finished.verdict != "equivalent":
                self._stop(attempt, finished.verdict, verdict.words, finished)

    def _stop(
        self, attempt: _Attempt, outcome: StackOutcome, reason: str, finished: Finished | None = None
    ) -> NoReturn:
        """Keep the attempt in ``failed``, make the tree what it was before the step, and raise Stopped."""
        state, repository = attempt.state, self._repository
        kept = _fresh(self._folder / FAILED, f"{attempt.number:02}-{state.name}")
        kept.mkdir(parents=True)
        write_atomically(kept / "attempt.patch", repository.patch().encode(errors="surrogateescape"))
        write_atomically(kept / "reason.txt", f"{reason}\n".encode())
        if finished is not None:
            save_result(finished, kept)
        state.reason, state.kept = reason, kept.relative_to(self._folder).as_posix()
        self._enter(state, "stopped")
        repository.restore(attempt.parent)
        self._tell(StepEnded(state, finished))
        raise Stopped(outcome)

    # -- subjects

    def _migrated(self, mode: str, index: TreeIndex, facts: RecordFacts) -> SubjectSpec:
        place = "/".join(part for part in (TREE, self._state.inside) if part)
        return migrated_spec(self._plan, mode, place, self._folder, self._options, index, facts)

    def _original(self, mode: str) -> SubjectSpec:
        return self._options.spec(f"{self._state.original}{self._plan.suffix(mode)}", self._folder / TREE)

    # -- the end

    def _counted(self, index: TreeIndex, facts: RecordFacts, fields: tuple[str, ...]) -> WriteTotals:
        """Count the writes of the plan's fields in the finished tree, and the reasons why some are in no pass."""
        sites = write_sites(index, facts, fields)
        lift: type = codemod_named("lift_writes")
        left = run_codemods(index.tree, [lift(facts, fields)], jobs=self._options.processes).left
        return WriteTotals(
            before=sum(step.before for step in self._state.steps),
            after=counted(sites, "imperative"),
            recorded=counted(sites, "recorded"),
            lifted=counted(sites, "lifted"),
            reasons=reasons_of([site for site in sites if site.kind == "recorded"], left),
        )

    def _also(self, index: TreeIndex, facts: RecordFacts) -> None:
        """Gate the finished tree against the further subjects of the plan; keep each verdict, whatever it is.

        These gates start from the cases that the steps' gates kept. From the finished tree alone, some places are
        hard to reach, because a pass gets as an argument what was decided before it.
        """
        mode = self._plan.gate.modes[0]
        for text in self._plan.gate.also[len(self._state.also) :]:
            name = f"against {text}"
            self._tell(StepWorking(f"gating {name}"))
            other, migrated = self._options.spec(text, self._folder), self._migrated(mode, index, facts)
            ledger = ledger_for(self._plan, (), other.label, migrated.label)
            finished = self._gated(mode, name, other, migrated, ledger)
            if finished.verdict != "equivalent":
                kept = _fresh(self._folder / FAILED, "at-the-end")
                kept.mkdir(parents=True)
                save_result(finished, kept)
            self._state.also = (*self._state.also, verdict_of(finished, name))
            save_state(self._folder, self._state)

    # -- gates

    def _gated(self, mode: str, name: str, first: SubjectSpec, migrated: SubjectSpec, ledger: Ledger) -> Finished:
        """Run a gate on a copy of the mode's corpus; raises KeyboardInterrupt if the gate was interrupted.

        The copy replaces the corpus only when the step is done, so that a step that is done again has the same cases.
        ``name`` is what events call the gate.
        """
        kept, new = self._corpora(mode)
        new.parent.mkdir(exist_ok=True)
        shutil.rmtree(new, ignore_errors=True)
        if kept.is_dir():
            shutil.copytree(kept, new)
        finished = run_gate(first, migrated, self._plan, ledger, self._options, self._listening(name), new)
        if finished.interrupted:
            raise KeyboardInterrupt
        return finished

    def _listening(self, name: str) -> Listener:
        return lambda event: self._tell(GateProgress(name, event))

    def _corpora(self, mode: str) -> tuple[Path, Path]:
        return self._folder / CORPUS / mode, self._folder / CORPUS / f"{mode}.new"

    def _keep_corpora(self) -> None:
        for mode in self._plan.gate.modes:
            kept, new = self._corpora(mode)
            if new.is_dir():
                shutil.rmtree(kept, ignore_errors=True)
                new.rename(kept)


def _fresh(folder: Path, name: str) -> Path:
    """Return a path in ``folder`` at which nothing is yet; makes ``folder``."""
    folder.mkdir(exist_ok=True)
    path, number = folder / name, 2
    while path.exists():
        stem, dot, end = name.rpartition(".")
        path = folder / (f"{stem}-{number}.{end}" if dot and end == "patch" else f"{name}-{number}")
        number += 1
    return path
