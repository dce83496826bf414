"""Finds the entries of a ledger that need attention: they expired, explain nothing any more, or explain too much.

A gate never reads the expiry day. An expired entry still explains its differences, so that the same run has the same
verdict tomorrow. Only this check reads the day, for the people who maintain the ledger.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from harness.engine.ledger.entries import Entry, Ledger, Unreached
from harness.world.chain import Writer

MOST: Final = 0.5
"""If an entry explains more than this share of a run's cases, it is too broad to be one intended difference."""

LedgerFault = Literal["expired", "broad", "stale", "untried"]
"""``untried``: the runs compared the entry's subjects, but with a ledger that did not have the entry yet."""


class Finding(NamedTuple):
    """A fault of an entry: the entry's id (or field and function), the fault, and a sentence that says what to do."""

    entry: str
    fault: LedgerFault
    text: str


class Tried(NamedTuple):
    """What a run with a ledger found.

    - ``name``: names the run in messages.
    - ``subjects``: the names that the user gave.
    - ``compared``: the fields that were compared.
    - ``explained``: the number of cases that an entry explained, by the entry's id.
    - ``stale``: the ids of the entries that explained none.
    - ``writes``: for each side, the places that write a compared field, and how often each ran.
    """

    name: str
    subjects: tuple[str, str]
    cases: int
    compared: frozenset[str]
    explained: Mapping[str, int]
    stale: frozenset[str]
    writes: tuple[Sequence[tuple[Writer, int]], Sequence[tuple[Writer, int]]]


def check(ledger: Ledger, today: datetime.date, runs: Sequence[Tried]) -> list[Finding]:
    """Return the faults of a ledger's entries, in the order of the ledger; ``runs`` may be empty.

    An entry is called stale only if a run compared its two subjects.
    """
    found: list[Finding] = []
    for entry in ledger.entries:
        found += _expired(entry.id, entry, today)
        found += _broad(entry, runs)
        found += _stale(ledger, entry, runs)
    for site in ledger.unreached:
        name = f"unreached {site.field} in {site.source}"
        found += _expired(name, site, today)
        found += _stale_site(name, ledger, site, runs)
    return found


def _expired(name: str, entry: Entry | Unreached, today: datetime.date) -> Iterator[Finding]:
    if entry.expires is not None and entry.expires < today:
        asked = f"ask {entry.owner}, then " if entry.owner else ""
        text = f"it was meant until {entry.expires}: {asked}take it out, or give it a later day"
        yield Finding(name, "expired", text)


def _broad(entry: Entry, runs: Iterable[Tried]) -> Iterator[Finding]:
    """Report an entry that has no conditions, and each run of which it explains too many cases."""
    # A group of ``any`` without conditions holds for every case.
    conditions = bool(entry.when) or (bool(entry.any) and all(entry.any))
    explains = entry.fields or entry.environment or entry.refusal or entry.refusals
    if explains and not conditions and not entry.everywhere:
        yield Finding(
            entry.id, "broad", 'it holds for every case: narrow it by when or any, or say scope = "every case"'
        )
    if entry.everywhere:
        return
    for run in runs:
        count = run.explained.get(entry.id, 0)
        if count > MOST * run.cases:
            text = f"it explains {count} of the {run.cases} cases of {run.name}: narrow its conditions"
            yield Finding(entry.id, "broad", text)


def _stale(ledger: Ledger, entry: Entry, runs: Iterable[Tried]) -> Iterator[Finding]:
    """Report an entry that explains nothing in any run of its subjects, or that none of these runs had."""
    concerned = [run for run in runs if any(one.id == entry.id for one in ledger.between(*run.subjects).entries)]
    if not concerned or any(entry.id in run.explained for run in concerned):
        return
    names = ", ".join(run.name for run in concerned)
    if all(entry.id in run.stale for run in concerned):
        yield Finding(entry.id, "stale", f"it explains nothing in {names}: take it out if that is so in every run")
    elif not any(entry.id in run.stale or entry.id in run.explained for run in concerned):
        yield Finding(entry.id, "untried", f"{names} was made without it: run the gate again with this ledger")


def _stale_site(name: str, ledger: Ledger, site: Unreached, runs: Iterable[Tried]) -> Iterator[Finding]:
    """Report an entry for write sites that are in no run's list of writes, or that all ran after all."""
    concerned = [
        (run.name, run.writes[side])
        for run in runs
        for side, subject in enumerate(run.subjects)
        if site.field in run.compared and site in ledger.between(subject, subject).unreached
    ]
    met = [(run, count) for run, writes in concerned for writer, count in writes if site.excuses(writer)]
    if concerned and not met:
        names = ", ".join(dict.fromkeys(run for run, _ in concerned))
        yield Finding(name, "stale", f"no such write is among those of {names}: take it out")
    elif met and all(count for _, count in met):
        yield Finding(name, "stale", f"it ran {met[0][1]} times in {met[0][0]}, so that it can: take it out")
