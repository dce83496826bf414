"""Does one step on a tree: prints the change as a patch, or writes it to a copy or a clean git work tree."""

from __future__ import annotations

import difflib
import io
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from codemods.reading.files import SourceTree, write
from codemods.stack.plan import default_plan
from codemods.stack.repository import check_clean, user_repository
from codemods.stack.step import AppliedStep, StepWork, planned_step, read_tree
from codemods.stack.trees import TreePlace, copy_tree
from harness.common.errors import UsageError, visible
from harness.common.writing import folder_atomically
from harness.formats.subjectname import KNOWN_PACKAGES

_LISTED = 60


def default_work(
    place: TreePlace,
    fields: Sequence[str],
    codemods: Sequence[str] = (),
    options: Sequence[str] = (),
    force: bool = False,
) -> StepWork:
    """Return the step that moves ``fields``; without ``codemods`` it has those of the plan for sglang.

    Each of ``options`` is of the form ``CODEMOD.NAME=VALUE``. Raises UsageError.
    """
    plan = default_plan(KNOWN_PACKAGES[0])
    return StepWork(
        record=place.record,
        fields=tuple(dict.fromkeys(fields)),
        codemods=tuple(codemods or plan.codemods),
        options={**plan.options, **_options(options)},
        force=force,
    )


def migrate_tree(
    place: TreePlace,
    text: str,
    work: StepWork,
    out: Path | None,
    in_place: bool,
    jobs: int,
    say: Callable[[str, bool], object],
) -> None:
    """Do ``work`` on the tree at ``place``, which the user called ``text``.

    The result goes to the new folder ``out``, or with ``in_place`` into the tree. Without both, a patch goes to
    standard output. ``say`` gets each line of the report, and True if standard output holds the patch. Raises
    UsageError before anything is written.
    """
    target = _target(place, text, out, in_place)
    index, facts = read_tree(place.root, place.record, place.package)
    applied = planned_step(index, facts, work, place.root, jobs=jobs)
    if target is None:
        sys.stdout.buffer.write(_patch(index.tree, applied.result.changed))
        sys.stdout.buffer.flush()
    elif out is not None:
        with folder_atomically(out) as making:
            copy_tree(place.root, place.package, making)
            write(making, applied.result.changed)
    else:
        write(target, applied.result.changed)
    for line in _lines_of(applied, work, target):
        say(visible(line), target is None)


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
    """Return the folder to write to, None if only a patch is wanted; raises UsageError before anything is read."""
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


def _patch(tree: SourceTree, changed: Mapping[str, bytes]) -> bytes:
    """Return the change as a patch that git applies byte for byte, whatever the encodings and line ends are."""
    known = set(tree.names())
    lines: list[str] = []
    for name in sorted(changed):
        before = tree.read(name) if name in known else b""
        source = f"a/{name}" if name in known else "/dev/null"
        lines += difflib.unified_diff(_lines(before), _lines(changed[name]), source, f"b/{name}")
    ended = (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return "".join(ended).encode(errors="surrogateescape")


def _lines(data: bytes) -> list[str]:
    # Only a line feed ends a line for git, and bytes that are no UTF-8 must come through unchanged.
    return list(io.StringIO(data.decode(errors="surrogateescape"), newline="\n"))


def _lines_of(applied: AppliedStep, work: StepWork, target: Path | None) -> Iterator[str]:
    """Yield the lines of the report: what was done and what was left."""
    counts = applied.counts(work.fields)
    for name, count in applied.result.counts.items():
        yield (f"applied  {name}: {count}")
    yield from (f"note     {note}" for note in applied.notes)
    yield from (f"unread   {line}" for line in applied.unread)
    left = applied.left(work.fields)
    yield from (f"left     {item.words}" for item in left[:_LISTED])
    if len(left) > _LISTED:
        yield (f"left     and {len(left) - _LISTED} more")
    yield (
        f"writes   {', '.join(work.fields)}: of {counts['before']} by assignment {counts['lifted']} are now declared"
        f" in passes, {counts['recorded']} in place, {counts['after']} are left"
    )
    changed = len(applied.result.changed)
    yield (f"changed  {changed} files{f' in {target}' if target else '; nothing was written (--out, --in-place)'}")
