"""Shows a stack at a terminal: progress while it runs, a line for each step, and the table of all steps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich import box
from rich.console import Console
from rich.progress import TaskID
from rich.table import Table
from rich.text import Text

from codemods.stack.events import GateProgress, StackEnded, StackEvent, StepEnded, StepStarted, StepWorking
from codemods.stack.plan import StackPlan
from codemods.stack.state import TREE, StackState, StepState
from harness.common.errors import visible
from harness.engine.result import events as gate_events
from harness.report.terminal.gate import print_result, progress_bar

_STYLES = {"done": "green", "unchanged": "dim", "stopped": "bold red", "pending": "dim"}
_VERDICTS = {"equivalent": "green", "different": "bold red", "inconclusive": "bold yellow"}
_LISTED = 12


class StackView:
    """Shows the events of a run: progress on ``progress`` (standard error), results on ``output``."""

    def __init__(self, output: Console, progress: Console) -> None:
        self._output = output
        self._bar = progress_bar(progress)
        self._task: TaskID | None = None
        self._step = ""
        self._cases = 0

    def __enter__(self) -> StackView:
        self._bar.start()
        self._task = self._bar.add_task("reading the stack", total=None, rate="")
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def __call__(self, event: StackEvent) -> None:
        """Show one event."""
        if isinstance(event, StepStarted):
            self._step = f"step {event.number} of {event.total}, {event.step.name}: "
            self._show(self._step)
        elif isinstance(event, StepWorking):
            self._show(f"{self._step}{event.what}")
        elif isinstance(event, GateProgress):
            self._gating(event)
        elif isinstance(event, StepEnded):
            for line in step_lines(event.step):
                self._output.print(line, soft_wrap=True)
            if event.gate is not None:
                print_result(event.gate, self._output)
        elif isinstance(event, StackEnded):
            self._bar.stop()

    def _gating(self, gating: GateProgress) -> None:
        event = gating.event
        if isinstance(event, gate_events.Started):
            self._cases = 0
            self._show(f"{self._step}gating, {gating.mode}", event.cases)
        elif isinstance(event, gate_events.Progressed):
            self._cases += event.counts.cases
            if self._task is not None:
                self._bar.update(self._task, completed=self._cases, rate=f"{self._cases} cases")
        elif isinstance(event, gate_events.Minimising):
            self._show(f"{self._step}minimising {event.buckets} witnesses")

    def _show(self, what: str, total: int | None = None) -> None:
        if self._task is not None:
            self._bar.reset(self._task, description=what, total=total, rate="")


def step_lines(step: StepState) -> Iterator[Text]:
    """Yield the lines that say what became of a step: one for it, one for each gate, and why it stopped."""
    counts = (
        f"{step.before} writes → {step.after}; {step.lifted} lifted, {step.recorded} recorded, {len(step.left)} left"
    )
    yield Text.assemble((f"{step.status:9}", _STYLES.get(step.status, "")), (step.name, "bold"), f"  {counts}")
    for verdict in step.verdicts:
        yield Text(f"         {visible(verdict.words)}", _VERDICTS[verdict.verdict])
    if step.status == "stopped":
        if not step.verdicts or step.reason != step.verdicts[-1].words:
            yield Text(f"         {visible(step.reason)}", "red")
        yield Text(f"         the attempt is kept in {step.kept}; the tree is as it was before the step")


def print_plan(plan: StackPlan, writes: dict[str, int], console: Console) -> None:
    """Print the steps of a plan; ``writes`` is how often each field is written in the target."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("step", justify="right")
    table.add_column("name", no_wrap=True)
    table.add_column("fields (writes)")
    table.add_column("pull request", overflow="fold")
    for number, step in enumerate(plan.steps, 1):
        fields = ", ".join(f"{name} ({writes.get(name, 0)})" for name in step.fields)
        table.add_row(str(number), Text(step.name), Text(fields), Text(step.reference.rpartition("/pull/")[2]))
    console.print(table)
    console.print(Text(f"codemods {', '.join(plan.codemods)}"), soft_wrap=True)
    for step in plan.steps:
        if step.codemods:
            console.print(Text(f"         {step.name}: {', '.join(step.codemods)}"), soft_wrap=True)
    gate = plan.gate
    also = f"; at the end against {', '.join(gate.also)}" if gate.also else ""
    console.print(
        Text(f"gate     {gate.cases} cases of seed {gate.seed}, {' and '.join(gate.modes)}, at each step{also}"),
        soft_wrap=True,
    )
    console.print(Text(f"writes   {sum(writes.values())} of {len(plan.fields)} fields by assignment"), soft_wrap=True)


def print_state(folder: Path, state: StackState, console: Console) -> None:
    """Print the table of all steps, what is left, and where the work tree is."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("step, fields", overflow="fold", min_width=26)
    for name in ("before", "after", "lifted", "recorded", "left"):
        table.add_column(name, justify="right")
    table.add_column("gate", no_wrap=True, min_width=12)
    for step in state.steps:
        counted = step.status not in ("pending", "applying")
        numbers = (step.before, step.after, step.lifted, step.recorded, len(step.left)) if counted else ("",) * 5
        what = Text.assemble((step.name, "bold"), "\n", (", ".join(step.fields), "dim"))
        table.add_row(what, *map(str, numbers), Text(*_gate_words(step)))
    console.print(table)
    if state.totals is not None:
        totals = state.totals
        declared = totals.lifted + totals.recorded
        share = f", {100 * totals.lifted / declared:.0f} % lifted" if declared else ""
        console.print(
            Text(
                f"writes   {totals.before} by assignment → {totals.after}; declared at {declared} places:"
                f" {totals.lifted} in passes, {totals.recorded} in place{share}"
            ),
            soft_wrap=True,
        )
        for reason, count in list(totals.reasons.items())[:_LISTED]:
            console.print(Text(f"         {count} in place: {visible(reason)}", "dim"), soft_wrap=True)
        if len(totals.reasons) > _LISTED:
            rest = len(totals.reasons) - _LISTED
            console.print(
                Text(f"         and {rest} further reasons (--format json has them)", "dim"), soft_wrap=True
            )
    for verdict in state.also:
        console.print(Text(f"gate     {visible(verdict.words)}", _VERDICTS[verdict.verdict]), soft_wrap=True)
    console.print(Text(f"tree     {folder / TREE}"), soft_wrap=True)
    over = sum(step.is_over for step in state.steps)
    if over < len(state.steps):
        current = state.steps[over]
        why = f"stopped at {current.name}" if current.status == "stopped" else f"{current.name} is next"
        console.print(
            Text(
                f"steps    {over} of {len(state.steps)} are done, {why}: stackproof stack resume {folder}", "yellow"
            ),
            soft_wrap=True,
        )


def print_step(step: StepState, diffstat: str, console: Console) -> None:
    """Print all that is known of one step."""
    for line in step_lines(step):
        console.print(line, soft_wrap=True)
    console.print(Text(f"fields   {', '.join(step.fields)}"), soft_wrap=True)
    if step.commit:
        console.print(Text(f"branch   {step.branch}\ncommit   {step.commit}"), soft_wrap=True)
    for note in step.notes:
        console.print(Text(f"note     {visible(note)}"), soft_wrap=True)
    for item in step.left:
        console.print(Text(f"left     {visible(item.words)}"), soft_wrap=True)
    if diffstat:
        console.print(Text(diffstat.rstrip("\n")), soft_wrap=True)


def _gate_words(step: StepState) -> tuple[str, str]:
    if step.status == "unchanged":
        return "nothing to do", "dim"
    worst = next((item for item in step.verdicts if item.verdict != "equivalent"), None)
    if worst is not None:
        return worst.verdict, _VERDICTS[worst.verdict]
    if step.status == "stopped":
        return "not imported", "bold red"
    if not step.verdicts:
        return step.status, "dim"
    return f"{sum(item.cases for item in step.verdicts)} agree", "green"
