"""Applies the codemods of one step to a tree, and finds out what became of the fields' writes."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from codemods.frame.codemod import Codemod, DoesNotApply, Left, StepFields
from codemods.frame.driver import StepResult, run
from codemods.mods import codemod_named
from codemods.reading.facts import RecordFacts
from codemods.reading.files import FolderTree, MemoryTree, write
from codemods.reading.index import TreeIndex, dotted_name
from codemods.reading.record import facts_of
from codemods.reading.writes import WriteSite, counted, write_sites
from codemods.stack.formatter import Formatted, formatted
from codemods.stack.state import LeftThere
from harness.common.errors import UsageError, hint


@dataclass(frozen=True)
class StepWork:
    """What a step is to do.

    ``fields`` move in this step, and ``earlier`` moved in the steps before. ``options`` gives, by the name of a
    codemod, arguments for it. With ``force``, codemods that have this option continue where they would refuse.
    """

    record: str
    fields: tuple[str, ...]
    codemods: tuple[str, ...]
    earlier: tuple[str, ...] = ()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    force: bool = False

    @property
    def every(self) -> tuple[str, ...]:
        """The fields that have moved when the step is done."""
        return tuple(dict.fromkeys((*self.earlier, *self.fields)))


@dataclass(frozen=True)
class AppliedStep:
    """What a step did.

    ``result`` is what its codemods made of the tree; ``before`` and ``after`` are the writes of the fields. ``index``
    reads the tree as it is after the step, but ``facts`` are those from before it. ``skipped`` holds a sentence for
    each codemod that does not apply to the tree; ``formatting`` says what a formatter did.
    """

    result: StepResult
    before: tuple[WriteSite, ...]
    after: tuple[WriteSite, ...]
    index: TreeIndex
    facts: RecordFacts
    skipped: tuple[str, ...] = ()
    formatting: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the user, besides what changed and what was left."""
        return (*self.skipped, *self.formatting)

    @property
    def unread(self) -> list[str]:
        """The files that could not be changed, each with the reason."""
        return [f"{path}: {reason}" for path, reason in sorted(self.result.unreadable.items())]

    def left(self, fields: Collection[str]) -> tuple[LeftThere, ...]:
        """Return what was left that concerns one of ``fields``, or no particular field."""
        return tuple(
            LeftThere(file=item.file, line=item.line, what=item.what, reason=item.reason)
            for item in dict.fromkeys(self.result.left)
            if not item.fields or item.fields & set(fields)
        )

    def counts(self, fields: Collection[str]) -> dict[str, int]:
        """Return how many writes of ``fields`` were and are imperative, and how many are now recorded and lifted."""
        return {
            "before": counted(self.before, "imperative", fields),
            "after": counted(self.after, "imperative", fields),
            "recorded": counted(self.after, "recorded", fields),
            "lifted": counted(self.after, "lifted", fields),
        }


def read_tree(root: Path, record: str, package: str = "") -> tuple[TreeIndex, RecordFacts]:
    """Return the index of the folder ``root``, or of ``package`` in it, and what is known of its record.

    Raises UsageError when the record is not there.
    """
    index = TreeIndex(FolderTree(root, package))
    return index, facts_of(index, record)


def apply_step(root: Path, work: StepWork, *, top: Path | None = None, jobs: int = 1) -> AppliedStep:
    """Apply the step to the tree in ``root``, which the caller has made for that, or knows to be clean.

    ``top`` is the folder up to which a formatter's configuration is looked for. Raises UsageError for an unknown
    field or option before anything is written.
    """
    applied = planned_step(*read_tree(root, work.record), work, root, top=top, jobs=jobs)
    write(root, applied.result.changed)
    return applied


def planned_step(
    index: TreeIndex, facts: RecordFacts, work: StepWork, root: Path, *, top: Path | None = None, jobs: int = 1
) -> AppliedStep:
    """Return what the step would do to the tree of ``index``, which lies in ``root``; nothing is written."""
    before = write_sites(index, facts, work.every)
    result, skipped = StepResult(), list[str]()
    now, known = index, facts
    for number, names in enumerate(_rounds(work.codemods)):
        if number:
            now = TreeIndex(MemoryTree(result.changed, index.tree))
            known = facts_of(now, f"{dotted_name(facts.record.file)}:{facts.record.name}", facts.names)
        codemods, more = made(dataclasses.replace(work, codemods=names), now, known, before)
        result.add(run(now.tree, codemods, jobs=jobs))
        skipped += more
    done: Formatted = formatted(index.tree, root, top or root, result.changed)
    result.changed = dict(done.changed)
    overlaid = TreeIndex(MemoryTree(result.changed, index.tree))
    after = write_sites(overlaid, facts, work.every)
    return AppliedStep(result, tuple(before), tuple(after), overlaid, facts, tuple(skipped), done.notes)


def _rounds(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the codemods in rounds: one that must read the tree as those before left it starts a new round."""
    rounds: list[tuple[str, ...]] = []
    for name in names:
        if rounds and not codemod_named(name).reads_anew:
            rounds[-1] += (name,)
        else:
            rounds.append((name,))
    return rounds


def made(
    work: StepWork, index: TreeIndex, facts: RecordFacts, sites: Sequence[WriteSite]
) -> tuple[list[Codemod], list[str]]:
    """Return the codemods of a step, and a sentence for each that does not apply; raises UsageError."""
    for name in work.fields:
        facts.check_written(name)
    functions = tuple(sorted({site.function for site in sites if site.field in work.fields}))
    step = StepFields(work.fields, work.every, functions)
    found: list[Codemod] = []
    skipped: list[str] = []
    for name in work.codemods:
        try:
            found.append(_codemod(name, facts, step, work.options.get(name, {}), work.force))
        except DoesNotApply as why:
            skipped += [f"{name} does not apply: {why}"] if str(why) else []
    return found, skipped


def _codemod(name: str, facts: RecordFacts, step: StepFields, options: Mapping[str, Any], force: bool) -> Codemod:
    """Return the codemod ``name`` with the arguments from the step and from the user's ``options``.

    Raises UsageError for an option that it does not have, that has a wrong value or that is missing, and DoesNotApply
    if the codemod has nothing to do in this tree.
    """
    kind = codemod_named(name)
    takes = {item.name: item for item in dataclasses.fields(kind)}
    own = takes.keys() - {"facts", "fields"}
    for option in options:
        if option not in own:
            raise UsageError(f"codemod {name} has no option {option!r}{hint(option, own)}")
    given = {
        **kind.arguments(facts, step, options),
        **options,
        **({"force": True} if force and "force" in own else {}),
    }
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    types = get_type_hints(kind)
    for key, value in given.items():
        try:
            msgspec.convert(value, types.get(key, Any), strict=False)
        except msgspec.ValidationError as error:
            raise UsageError(f"codemod {name}: its option {key} is wrong: {error}") from None
    lacking = [
        key
        for key, item in takes.items()
        if key not in ("facts", *given) and item.default is item.default_factory is MISSING
    ]
    if lacking:
        them = "it" if len(lacking) == 1 else "them"
        raise UsageError(
            f"codemod {name} needs {' and '.join(lacking)}: give {them} in [options.{name}] of a stack.toml"
        )
    return kind(facts, **given)


def reasons_of(sites: Sequence[WriteSite], left: Sequence[Left]) -> dict[str, int]:
    """Return, for each reason, how many of ``sites`` were left for it, the most frequent first."""
    found: dict[str, int] = {}
    for site in sites:
        around = [item for item in left if item.holds(site.file, site.line, site.field)]
        # Of the statements around the write that were left, the smallest is the one that was left because of it.
        inner = min(around, key=lambda item: item.end - item.line, default=None)
        reason = inner.reason if inner is not None else "no reason was given"
        found[reason] = found.get(reason, 0) + 1
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
