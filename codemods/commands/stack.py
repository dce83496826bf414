"""``stackproof stack``: plans, runs, resumes and shows a stack of steps, each gated and committed."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from codemods.commands.options import TREES, print_json
from harness.cli.frame.app import DIFFERENT, EQUIVALENT, INCONCLUSIVE
from harness.cli.frame.options import SUBJECT_OPTIONS, Format, takes
from harness.common.errors import UsageError, hint

if TYPE_CHECKING:
    from harness.config import Config

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Move the fields of a stack step by step: codemods, gate, commit; what fails stops it with the tree intact.",
    short_help="Move fields step by step: codemods, gate, commit.",
)

_STATUS = {"done": EQUIVALENT, "different": DIFFERENT, "inconclusive": INCONCLUSIVE}

TargetName = Annotated[
    str, typer.Argument(metavar="TARGET", help=f"The tree to migrate: {TREES}. It is not changed.")
]
StackFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder that was given to 'stack run' as --out.")
]
PlanFile = Annotated[
    Path | None,
    typer.Option(
        "--plan", metavar="FILE", help="A stack.toml.  [default: the one that comes with us]", show_default=False
    ),
]
Cases = Annotated[
    int | None,
    typer.Option(min=1, max=10**9, help="Cases a step and mode.  [default: the plan's]", show_default=False),
]
Seed = Annotated[int | None, typer.Option(help="Which cases.  [default: the plan's]", show_default=False)]
Force = Annotated[bool, typer.Option("--force", help="Let codemods go on where they would refuse; the gate decides.")]


@app.command(short_help="Show the steps, and how often each field is written.")
def plan(
    target: TargetName,
    plan: PlanFile = None,
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the plan there, as a stack.toml to edit.")
    ] = None,
    format: Annotated[Format, typer.Option(help="How to write the result.")] = Format.terminal,
) -> int:
    """Show the steps, checked against TARGET, and how often each field is written there."""
    from collections import Counter

    from rich.console import Console

    from codemods.stack.create import find_target, plan_for
    from codemods.stack.plan import plan_text
    from codemods.stack.terminal import print_plan
    from harness.common.writing import write_atomically

    if write is not None and write.exists():
        raise UsageError(f"--write {write} is there already: name a new file")
    made = plan_for(find_target(target, Path.cwd(), clean=False), plan)
    if write is not None:
        write_atomically(write, plan_text(made.plan).encode())
    writes = Counter(site.field for site in made.sites if site.kind == "imperative")
    if format is Format.json:
        body = {**msgspec.to_builtins(made.plan, enc_hook=str), "writes": dict(sorted(writes.items()))}
        del body["folder"]
        print_json(body)
        return EQUIVALENT
    console = Console(highlight=False)
    print_plan(made.plan, dict(writes), console)
    for note in made.notes:
        typer.echo(f"note     {note}")
    return EQUIVALENT


@app.command(short_help="Make a work tree of TARGET in DIR and do all steps there.")
@takes(*SUBJECT_OPTIONS, "jobs")
def run(
    config: Config,
    target: TargetName,
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder for the work tree, the plan and the state.")],
    plan: PlanFile = None,
    branches: Annotated[str, typer.Option(metavar="PREFIX", help="What the steps' branches begin with.")] = "stack",
    cases: Cases = None,
    seed: Seed = None,
    force: Force = False,
) -> int:
    """Make a work tree of TARGET in DIR and do all steps there, one commit and one branch each."""
    from codemods.stack.create import create, find_target, plan_for

    found = find_target(target, Path.cwd())
    made = plan_for(found, plan)
    changes = {key: value for key, value in (("cases", cases), ("seed", seed)) if value is not None}
    gated = msgspec.structs.replace(made.plan, gate=msgspec.structs.replace(made.plan.gate, **changes))
    # What the gate would refuse is refused here, before the folder is made.
    config.options.spec(f"{found.original}{gated.suffix(gated.gate.modes[0])}", Path.cwd())
    create(out, found, gated, branches)
    for note in made.notes:
        typer.echo(f"note     {note}")
    return _run(out, config, force)


@app.command(short_help="Go on with a stack that was interrupted or stopped.")
@takes(*SUBJECT_OPTIONS, "jobs")
def resume(
    config: Config,
    folder: StackFolder,
    force: Force = False,
) -> int:
    """Go on with a stack that was interrupted or stopped; its stack.toml may have been edited since."""
    return _run(folder, config, force)


@app.command()
def status(
    folder: StackFolder,
    step: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this step, with all that is known.", show_default=False)
    ] = None,
    format: Annotated[Format, typer.Option(help="How to write the result.")] = Format.terminal,
) -> int:
    """Show how far a stack is; it may be running."""
    from rich.console import Console

    from codemods.stack.repository import Repository
    from codemods.stack.state import TREE, load_state
    from codemods.stack.terminal import print_state, print_step

    state = load_state(folder)
    names = [item.name for item in state.steps]
    if step is not None and step not in names:
        raise UsageError(f"the stack in {folder} has no step {step!r}{hint(step, names)}")
    one = next((item for item in state.steps if item.name == step), None)
    if format is Format.json:
        print_json(state if one is None else one)
        return EQUIVALENT
    console = Console(highlight=False)
    if one is None:
        print_state(folder, state, console)
        return EQUIVALENT
    stat = ""
    if one.commit:
        stat = Repository(folder / TREE, own=state.own).stat(f"{one.commit}^", one.commit)
    print_step(one, stat, console)
    return EQUIVALENT


def _run(folder: Path, config: Config, force: bool) -> int:
    from rich.console import Console

    from codemods.stack.run import run_stack
    from codemods.stack.state import load_state
    from codemods.stack.terminal import StackView, print_state

    output = Console(highlight=False)
    # A CI job that is cancelled gets SIGTERM, which ends the run like a Ctrl-C, so that it can be resumed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with StackView(output, Console(stderr=True, highlight=False)) as view:
            outcome = run_stack(folder, config.options, view, force=force)
    except KeyboardInterrupt:
        typer.echo(f"stopped  by Ctrl-C; go on with: stackproof stack resume {folder}", err=True)
        raise
    print_state(folder, load_state(folder), output)
    return _STATUS[outcome]
