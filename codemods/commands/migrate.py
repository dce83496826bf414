"""``stackproof migrate``: one step, or one codemod, on a tree."""

from __future__ import annotations

import difflib
import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from codemods.commands.options import TREES, Jobs, Record, tree_place
from codemods.stack.message import shown
from codemods.stack.places import TreePlace
from codemods.stack.plan import default_plan
from codemods.stack.repository import check_clean, user_repository
from codemods.stack.step import Applied, Work, left_of, planned_step, read_tree, summary_of
from codemods.tree import Tree, copied, write
from harness.cli.app import EQUIVALENT
from harness.cli.options import cores
from harness.errors import UsageError, visible
from harness.subjects.names import KNOWN_PACKAGES

_LISTED = 60


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(migrate)


def migrate(
    field: Annotated[list[str], typer.Argument(metavar="FIELD...", help="The fields that move, such as page_size.")],
    tree: Annotated[str, typer.Option("--tree", metavar="TREE", help=f"Where they are: {TREES}.")],
    codemod: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Apply this codemod; may be given again, in order.  [default: those of a step]",
            show_default=False,
        ),
    ] = None,
    record: Record = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="CODEMOD.NAME=VALUE", help="An argument of a codemod.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the migrated tree there, a new folder.")
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Write into TREE, which must be a clean git work tree.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Go on where a codemod would refuse; the gate decides.")
    ] = False,
    jobs: Jobs = None,
) -> int:
    """Move fields one step on: print the change as a patch, or write it with --out or --in-place. No gate runs."""
    if out is not None and in_place:
        raise UsageError("--out and --in-place ask for opposite things, give one of them")
    place = tree_place(tree, record)
    plan = default_plan(KNOWN_PACKAGES[0])
    work = Work(
        record=place.record,
        fields=tuple(dict.fromkeys(field)),
        codemods=tuple(codemod or plan.codemods),
        options={**plan.options, **_options(option or ())},
        force=force,
    )
    target = _target(place, tree, out, in_place)
    index, facts = read_tree(place.root, place.record, place.package)
    applied = planned_step(index, facts, work, place.root, jobs=jobs or cores())
    if target is None:
        sys.stdout.buffer.write(_patch(index.tree, applied.result.changed))
        sys.stdout.buffer.flush()
    else:
        if out is not None:
            _copy(place, out)
        write(target, applied.result.changed)
    _say(applied, work, target)
    return EQUIVALENT


def _options(texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        codemod, dot, key = name.partition(".")
        if not equals or not dot or not key.isidentifier():
            raise UsageError(f"--option {text!r} is not of the form CODEMOD.NAME=VALUE")
        found.setdefault(codemod, {})[key] = value
    return found


def _target(place: TreePlace, text: str, out: Path | None, in_place: bool) -> Path | None:
    """Return where to write, None for nowhere; raises UsageError before anything is read."""
    if out is not None:
        if out.exists() or out.is_symlink():
            raise UsageError(f"--out {out} is there already: name a new folder")
        if not out.absolute().parent.is_dir():
            raise UsageError(f"--out {out}: the folder {out.parent} does not exist")
        if out.resolve().is_relative_to(place.root.resolve()) and not place.package:
            raise UsageError(f"--out {out} lies inside the tree itself: name a folder beside it")
        return out
    if not in_place:
        return None
    repository = user_repository(place.root.resolve())
    if place.package or repository is None:
        raise UsageError(
            f"--in-place needs a git work tree of yours, and {text!r} is none: write to a copy with --out"
        )
    check_clean(repository)
    return place.root


def _copy(place: TreePlace, out: Path) -> None:
    """Copy the tree; files of a cached release are read-only, a copy's are not."""
    if place.package:
        out.mkdir()
        copied(place.root / place.package, out / place.package)
    else:
        copied(place.root, out)
    for path in out.rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.chmod(path.stat().st_mode | 0o200)


def _patch(tree: Tree, changed: Mapping[str, bytes]) -> bytes:
    """Return the change as git applies it, byte for byte, whatever the files' encodings and line ends are."""
    known = set(tree.names())
    lines: list[str] = []
    for name in sorted(changed):
        before = tree.read(name) if name in known else b""
        source = f"a/{name}" if name in known else "/dev/null"
        lines += difflib.unified_diff(_lines(before), _lines(changed[name]), source, f"b/{name}")
    ended = (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return "".join(ended).encode(errors="surrogateescape")


def _lines(data: bytes) -> list[str]:
    return list(io.StringIO(data.decode(errors="surrogateescape"), newline="\n"))


def _say(applied: Applied, work: Work, target: Path | None) -> None:
    """Say what was done and what was not, on standard error where the patch is on standard output."""
    to_stderr = target is None

    def say(line: str) -> None:
        typer.echo(visible(line), err=to_stderr)

    counts = summary_of(applied, work.fields)
    for name, count in applied.result.counts.items():
        say(f"applied  {name}: {count}")
    for note in (*applied.skipped, *applied.formatting):
        say(f"note     {note}")
    for path, reason in sorted(applied.result.unreadable.items()):
        say(f"unread   {path}: {reason}")
    left = left_of(applied, work.fields)
    for item in left[:_LISTED]:
        say(f"left     {item.file}:{item.line} {shown(item.what)}: {item.reason}")
    if len(left) > _LISTED:
        say(f"left     and {len(left) - _LISTED} more")
    say(
        f"writes   {', '.join(work.fields)}: of {counts['before']} by assignment {counts['lifted']} are now declared"
        f" in passes, {counts['recorded']} in place, {counts['after']} are left"
    )
    changed = len(applied.result.changed)
    say(f"changed  {changed} files{f' in {target}' if target else '; nothing was written (--out, --in-place)'}")
