"""One step on a folder: the codemods of a step, applied in one go, and what became of the fields' writes."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from codemods.frame.codemod import Codemod, Left
from codemods.frame.driver import StepResult, run
from codemods.mods import codemod_named
from codemods.reading.facts import RecordFacts
from codemods.reading.files import FolderTree, MemoryTree, write
from codemods.reading.index import TreeIndex, dotted_name
from codemods.reading.record import facts_of
from codemods.reading.writes import WriteSite, counted, write_sites
from codemods.stack.formatters import Formatted, formatted
from harness.common.errors import UsageError, hint


@dataclass(frozen=True)
class Work:
    """What a step is to do: ``fields`` move now, ``earlier`` have moved before; ``options`` are codemods' by name.

    With ``force`` the codemods that can do so go on where they would refuse.
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
class Applied:
    """What a step did: how the fields' writes stood before and after, and what was left, with the reasons.

    ``index`` reads the tree as the step makes it, and ``facts`` were read before it. ``skipped`` are codemods that do
    not apply to the tree, ``formatting`` what a formatter did, each in a sentence.
    """

    result: StepResult
    before: tuple[WriteSite, ...]
    after: tuple[WriteSite, ...]
    index: TreeIndex
    facts: RecordFacts
    skipped: tuple[str, ...] = ()
    formatting: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether anything changed."""
        return bool(self.result.changed)


def read_tree(root: Path, record: str, package: str = "") -> tuple[TreeIndex, RecordFacts]:
    """Return the index of the folder ``root``, or of ``package`` in it, and what is known of its record.

    Raises UsageError when the record is not there.
    """
    index = TreeIndex(FolderTree(root, package))
    return index, facts_of(index, record)


def apply_step(root: Path, work: Work, *, top: Path | None = None, jobs: int = 1) -> Applied:
    """Apply the step to the tree under ``root``, which the caller has made for it or knows to be clean.

    ``top`` is the folder up to which a formatter's configuration is looked for. Raises UsageError for an unknown
    field or option before anything is written.
    """
    applied = planned_step(*read_tree(root, work.record), work, root, top=top, jobs=jobs)
    write(root, applied.result.changed)
    return applied


def planned_step(
    index: TreeIndex, facts: RecordFacts, work: Work, root: Path, *, top: Path | None = None, jobs: int = 1
) -> Applied:
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
    return Applied(result, tuple(before), tuple(after), overlaid, facts, tuple(skipped), done.notes)


def _rounds(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the codemods in rounds: each of those that read the tree anew starts one."""
    rounds: list[tuple[str, ...]] = []
    for name in names:
        if rounds and not codemod_named(name).reads_anew:
            rounds[-1] += (name,)
        else:
            rounds.append((name,))
    return rounds


def made(
    work: Work, index: TreeIndex, facts: RecordFacts, sites: Sequence[WriteSite]
) -> tuple[list[Codemod], list[str]]:
    """Return the codemods of a step, and why some of them do not apply; raises UsageError."""
    for name in work.fields:
        facts.check_written(name)
    handlers = tuple(sorted({site.function for site in sites if site.field in work.fields}))
    found: list[Codemod] = []
    skipped: list[str] = []
    for name in work.codemods:
        given = dict(work.options.get(name, {}))
        kind = codemod_named(name)
        known = {item.name for item in dataclasses.fields(kind)}
        for option in given:
            if option not in known or option in ("facts", "fields"):
                raise UsageError(
                    f"codemod {name} has no option {option!r}{hint(option, known - {'facts', 'fields'})}"
                )
        if name == "tag_field":
            fields = tuple(item for item in work.fields if item in facts.fields)
            if facts.arg is None or not fields:
                what = "no field has metadata" if facts.arg is None else "an attribute is no field"
                skipped.append(f"tag_field does not apply: {what} that could be tagged")
                continue
            given["fields"] = fields
        elif name == "pin_whitelist":
            if facts.arg is None:
                skipped.append("pin_whitelist does not apply: no field is tagged")
                continue
            given.setdefault("fields", tuple(sorted({*facts.tagged, *(f for f in work.every if f in facts.fields)})))
        elif "functions" in known:
            given.setdefault("functions", handlers)
            if not given["functions"]:
                continue
        elif "fields" in known:
            # Regions of earlier fields may have waited for those that move now.
            given["fields"] = work.every if name == "lift_writes" else work.fields
        if work.force and "force" in known:
            given["force"] = True
        found.append(_codemod(name, kind, facts, given))
    return found, skipped


def _codemod(name: str, kind: Any, facts: RecordFacts, given: Mapping[str, Any]) -> Codemod:
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    types = get_type_hints(kind)
    for key, value in options.items():
        try:
            msgspec.convert(value, types.get(key, Any), strict=False)
        except msgspec.ValidationError as error:
            raise UsageError(f"codemod {name}: its option {key} is wrong: {error}") from None
    required = (item for item in dataclasses.fields(kind) if item.default is item.default_factory is MISSING)
    lacking = [item.name for item in required if item.name not in ("facts", *options)]
    if lacking:
        them = "it" if len(lacking) == 1 else "them"
        raise UsageError(
            f"codemod {name} needs {' and '.join(lacking)}: give {them} in [options.{name}] of a stack.toml"
        )
    codemod: Codemod = kind(facts, **options)
    return codemod


def left_of(applied: Applied, fields: Collection[str]) -> list[Left]:
    """Return what was left that has to do with ``fields``, or with no field in particular."""
    return [left for left in dict.fromkeys(applied.result.left) if not left.fields or left.fields & set(fields)]


def reasons_of(sites: Sequence[WriteSite], left: Sequence[Left]) -> dict[str, int]:
    """Return why writes stand where they are, in words, with how many of them: each goes by what was left there."""
    found: dict[str, int] = {}
    for site in sites:
        around = [item for item in left if item.holds(site.file, site.line, site.field)]
        # The smallest statement that holds the write is the one that was left; an outer one was left for another.
        inner = min(around, key=lambda item: item.end - item.line, default=None)
        reason = inner.reason if inner is not None else "no reason was given"
        found[reason] = found.get(reason, 0) + 1
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def summary_of(applied: Applied, fields: Collection[str]) -> dict[str, int]:
    """Return how many writes of ``fields`` were and are imperative, and how many are now recorded and lifted."""
    return {
        "before": counted(applied.before, "imperative", fields),
        "after": counted(applied.after, "imperative", fields),
        "recorded": counted(applied.after, "recorded", fields),
        "lifted": counted(applied.after, "lifted", fields),
    }
