"""``stackproof explain FIELD --tree T``: what the text of a tree says of a field; without a tree, the core's own."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from codemods.codemod import Left
from codemods.commands.options import TREES, Jobs, Record, tree_place
from codemods.hazards import Move, Trace, as_json, as_text, judge_move, trace
from codemods.stack.message import shown
from codemods.stack.plan import default_plan
from codemods.stack.step import Applied, Work, left_of, planned_step, read_tree, summary_of
from harness.cli.app import EQUIVALENT
from harness.cli.commands.explain import explain as explain_subjects
from harness.cli.options import AnswersFile, Format, Interpreter, cores
from harness.errors import UsageError
from harness.subjects.names import KNOWN_PACKAGES


def register(app: typer.Typer) -> None:
    """Put the command in the place of the core's, which it widens."""
    app.registered_commands[:] = [
        command for command in app.registered_commands if command.callback is not explain_subjects
    ]
    app.command()(explain)


def explain(
    field: Annotated[list[str], typer.Argument(metavar="FIELD...", help="A resolved field, such as page_size.")],
    tree: Annotated[
        str | None,
        typer.Option("--tree", metavar="TREE", help=f"Read this tree's text: {TREES}.", show_default=False),
    ] = None,
    record: Record = None,
    origin: Annotated[
        str | None,
        typer.Option("--from", metavar="SLOT", help="Judge a move of the writer in this slot.", show_default=False),
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="SLOT", help="Where it would move to.", show_default=False)
    ] = None,
    subject: Annotated[
        list[str] | None,
        typer.Option(
            metavar="S",
            help="Without --tree: whose writers; may be given again.  [default: legacy and declarative]",
            show_default=False,
        ),
    ] = None,
    format: Annotated[Format, typer.Option(help="How to write what --tree gives.")] = Format.terminal,
    jobs: Jobs = None,
    answers: AnswersFile = None,
    python: Interpreter = sys.executable,
) -> int:
    """List the writers of a field; with --tree also its readers, and what blocks the lift of each write."""
    if tree is None:
        for name, given in (("--record", record), ("--from", origin), ("--to", to)):
            if given is not None:
                raise UsageError(f"{name} is about a tree: give --tree too")
        if format is not Format.terminal:
            raise UsageError("--format json is about a tree: give --tree too")
        for name in field:
            explain_subjects(name, subject, answers, python)
        return EQUIVALENT
    if subject:
        raise UsageError("--subject and --tree ask for different things, give one of them")
    if (origin is None) != (to is None):
        raise UsageError("a move needs both --from and --to, each with the name or number of a slot")
    place = tree_place(tree, record)
    index, facts = read_tree(place.root, place.record, place.package)
    for name in field:
        facts.check_written(name)
    found = trace(index, facts)
    moves = [judge_move(found, name, origin, to) for name in field] if origin and to else []
    plan = default_plan(KNOWN_PACKAGES[0])
    work = Work(
        place.record, tuple(dict.fromkeys(field)), ("add_runtime", "record_writes", "lift_writes"), (), plan.options
    )
    applied = planned_step(index, facts, work, place.root, jobs=jobs or cores())
    left = left_of(applied, work.fields)
    if format is Format.json:
        typer.echo(_json(found, work, moves, applied, left), nl=False)
    else:
        typer.echo(as_text(found, work.fields, moves), nl=False)
        for line in _lift_lines(work, applied, left):
            typer.echo(line)
    return EQUIVALENT


def _lift_lines(work: Work, applied: Applied, left: Sequence[Left]) -> list[str]:
    counts = summary_of(applied, work.fields)
    lines = [
        "",
        f"a step lifts {counts['lifted']} of {counts['before']} writes into passes, declares {counts['recorded']} in"
        f" place and leaves {counts['after']}",
    ]
    for item in left:
        lines.append(f"  {item.file}:{item.line}  {shown(item.what)}")
        lines.append(f"      {item.reason}")
    return lines


def _json(found: Trace, work: Work, moves: Sequence[Move], applied: Applied, left: Sequence[Left]) -> str:
    body: dict[str, Any] = json.loads(as_json(found, work.fields, moves))
    body["lift"] = {**summary_of(applied, work.fields), "left": [item._asdict() for item in left]}
    return json.dumps(body, indent=2) + "\n"
