"""Adds proposed entries to the file of a ledger, and lists the entries that need attention."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.common.errors import UsageError, visible
from harness.common.toml import parse_toml, read_text
from harness.common.writing import write_atomically
from harness.engine.ledger.entries import FORMAT, load_ledger
from harness.engine.ledger.upkeep import Tried, check
from harness.moves.change import ROLES
from harness.report.ledger.proposal import HEAD, SCHEMA_FILE, propose
from harness.report.ledger.schema import ledger_schema
from harness.report.result.format import GateDocument, ReachPart
from harness.report.wording.words import counted
from harness.world.chain import Writer


def new_ledger(result: GateDocument) -> str:
    """Return the text of a new ledger with an entry for each bucket of a result."""
    return f"{HEAD}\n{propose(result)[0]}"


def add_entries(result: GateDocument, path: Path) -> Iterator[str]:
    """Add an entry to the ledger at ``path`` for each bucket that has none; yield lines that say what was done.

    If the file is new, the schema for editors is written beside it. Raises UsageError if the file is no ledger or
    cannot be written; it is unchanged then.
    """
    new = not path.exists()
    text = HEAD if new else read_text(path, f"ledger {path}")
    taken = _ids(text, path)
    proposed, added, left = propose(result, taken)
    if added:
        text = f"{text.rstrip()}\n\n{proposed}"
        # Parse the new text before it is written: if the file has ``difference = [...]``, TOML allows no
        # ``[[difference]]`` behind it.
        _ids(text, path)
        beside = path.parent / SCHEMA_FILE
        missing = new and not beside.exists()
        if missing:
            write_atomically(beside, ledger_schema())
        try:
            write_atomically(path, text.encode())
        except UsageError:
            if missing:
                beside.unlink(missing_ok=True)
            raise
    entries = counted(len(added), "entry", "entries")
    yield f"added    {entries} to {path}" + (": give each a reason" if added else "")
    for name in added:
        yield f"         {name}"
    for name in left:
        yield f"left     {name}: a case without an outcome is no difference that a ledger can explain"


def _ids(text: str, path: Path) -> list[Any]:
    """Return the ids in a ledger's text.

    `load_ledger` would refuse an entry that still lacks its reason, as proposed ones do, so the text is parsed here.
    """
    content = parse_toml(text, f"ledger {path}: nothing was added, since this")
    if content.get("format") != FORMAT:
        raise UsageError(f"ledger {path}: write format = {FORMAT!r} at its top, not {content.get('format')!r}")
    entries = content.get("difference", [])
    tables = entries if isinstance(entries, list) else []
    return [table.get("id") for table in tables if isinstance(table, dict)]


def check_lines(
    path: Path, today: datetime.date, results: Sequence[tuple[str, GateDocument]]
) -> tuple[list[str], bool]:
    """Return lines about the faults of the ledger at ``path``, and True if it has none.

    ``results`` are the results of runs with this ledger, each with a name for it. Raises UsageError for a ledger that
    cannot be read.
    """
    ledger = load_ledger(path, ROLES)
    found = check(ledger, today, [_tried(name, result) for name, result in results])
    lines = [visible(f"{one.fault:<9}{one.entry}: {one.text}") for one in found]
    number = len(ledger.entries) + len(ledger.unreached)
    entries = counted(number, "entry", "entries")
    runs = f" and {counted(len(results), 'run')}" if results else ""
    wanting = len({one.entry for one in found})
    said = f"{wanting} want attention" if wanting != 1 else "1 wants attention"
    return [*lines, f"checked  {entries} by {today}{runs}: {said if found else 'all are sound'}"], not found


def _tried(name: str, result: GateDocument) -> Tried:
    first, second = (side.name for side in result.subjects)
    return Tried(
        name=name,
        subjects=(first, second) if result.moved is None else (ROLES["base"], ROLES["head"]),
        cases=result.counts.cases,
        compared=frozenset(result.compared),
        explained={part.entry: part.count for part in result.explained},
        stale=frozenset(result.stale),
        writes=(_writes(result.reach[0]), _writes(result.reach[1])),
    )


def _writes(reach: ReachPart) -> list[tuple[Writer, int]]:
    return [
        (Writer(field=part.field, slot=part.slot, source=part.source, file=part.file, line=part.line), part.count)
        for part in reach.writes
    ]
