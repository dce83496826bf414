"""The entries of a ledger file: which differences are intended, under which conditions, and why.

An entry explains a difference between its two subjects if it lists the kind or the field of the difference, and its
conditions hold for the case and the two outcomes. Explained differences are counted apart and pass. The grammar is in
docs/ledger.md.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from harness.common.errors import UsageError, hint
from harness.common.toml import read_toml
from harness.engine.ledger.conditions import Conditions, conditions_from_toml, facts_of, holds
from harness.formats.subjectname import normal_name
from harness.world.case import Case, Outcome
from harness.world.chain import Writer

FORMAT: Final = "stackproof.ledger/1"
_NAMES: Final = ("fields", "environment", "absent")
_FLAGS: Final = ("refusal", "refusals")
_UPKEEP: Final = ("owner", "expires")
_KEYS: Final = ("id", "subjects", "reason", "reference", *_UPKEEP, "scope", "when", "any", *_NAMES, *_FLAGS)
_UNREACHED_TEXTS: Final = ("subject", "field", "source", "reason")
_UNREACHED_KEYS: Final = (*_UNREACHED_TEXTS, *_UPKEEP)

EVERY_CASE: Final = "every case"
"""The scope of an entry that has no conditions on purpose."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One intended difference between two subjects.

    - ``subjects``: their normal names (`harness.formats.subjectname.normal_name`); ``named``: the names in the file.
    - ``fields``, ``environment``: the fields and the variables that may differ.
    - ``refusal``: true if one subject may refuse a case that the other resolves.
    - ``refusals``: true if both may refuse a case, with different checks.
    - ``absent``: fields that one of the subjects does not have.
    - ``when``, ``any``: all conditions of ``when`` must hold, and all of one group of ``any`` if it has groups.
    - ``everywhere``: true if the entry has no conditions on purpose.
    - ``owner``: who is responsible for the entry; ``expires``: its last day. A gate reads neither, because the day of
      a run must not decide its verdict. `harness.engine.ledger.upkeep` checks the day.
    """

    id: str
    subjects: tuple[str, str]
    named: tuple[str, str]
    reason: str
    reference: str
    fields: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    refusal: bool = False
    refusals: bool = False
    when: Conditions = ()
    any: tuple[Conditions, ...] = ()
    everywhere: bool = False
    owner: str = ""
    expires: datetime.date | None = None

    def covers(self, kind: str, name: str) -> bool:
        """Whether the entry lists differences of this kind and name; its conditions must hold as well."""
        if kind == "field":
            return name in self.fields
        if kind == "environment":
            return name in self.environment
        return (kind == "refusal" and self.refusal) or (kind == "refusals" and self.refusals)

    def holds(self, facts: Mapping[str, Any]) -> bool:
        """Whether the entry's conditions hold for ``facts``: what `facts_of` returned for a case and its outcomes."""
        return holds(self.when, facts) and (not self.any or any(holds(group, facts) for group in self.any))


class Unreached(msgspec.Struct, frozen=True, kw_only=True):
    """States that no case can reach the write sites of ``field`` in the function ``source`` of a subject, and why.

    ``owner`` and ``expires`` mean the same as in an `Entry`.
    """

    subject: str
    field: str
    source: str
    reason: str
    owner: str = ""
    expires: datetime.date | None = None

    def excuses(self, writer: Writer) -> bool:
        """Whether ``writer`` is such a site."""
        return writer.field == self.field and writer.source == self.source


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """Entries and unreached write sites: all of a file, or those for the two subjects of a gate (`between`)."""

    entries: tuple[Entry, ...] = ()
    unreached: tuple[Unreached, ...] = ()

    def between(self, first: str, second: str) -> Ledger:
        """Return the part for these two subjects, which have the names that the user gave.

        An entry that lists them in the other order is turned round, with its conditions.
        """
        labels, names = (first, second), (normal_name(first), normal_name(second))
        entries = []
        for entry in self.entries:
            # Two copies of one package have the same normal name, so only the written names show which is which.
            turned = entry.named == labels[::-1] if names[0] == names[1] else entry.subjects == names[::-1]
            if turned:
                entries.append(_turned(entry))
            elif entry.subjects == names:
                entries.append(entry)
        return Ledger(
            entries=tuple(entries),
            unreached=tuple(site for site in self.unreached if site.subject in names),
        )

    def explains(self, kind: str, name: str, case: Case, first: Outcome, second: Outcome) -> str | None:
        """Return the id of the first entry that explains a difference of this case, None if none does."""
        facts: Mapping[str, Any] | None = None
        for entry in self.entries:
            if not entry.covers(kind, name):
                continue
            if facts is None:
                facts = facts_of(case, first, second)
            if entry.holds(facts):
                return entry.id
        return None

    def explains_absent(self, name: str) -> str | None:
        """Return the id of the first entry that expects the field to be missing in one subject, None if none does."""
        return next((entry.id for entry in self.entries if name in entry.absent), None)


def load_ledger(path: Path, aliases: Mapping[str, str] | None = None) -> Ledger:
    """Return the ledger in the file ``path``.

    ``aliases`` maps further names that the file may use for subjects, such as ``base``, to the subjects' names.
    Raises UsageError if the file cannot be read, is not TOML, or has an unknown key or path or a wrong value.
    """
    where = f"ledger {path}"
    content = read_toml(path, where)
    _check_keys(content, ("format", "difference", "unreached"), where)
    if content.get("format") != FORMAT:
        raise UsageError(f"{where}: write format = {FORMAT!r} at its top, not {content.get('format')!r}")
    entries = tuple(
        _entry(table, f"{where}, difference {number}", aliases or {})
        for number, table in enumerate(_tables(content, "difference", where), 1)
    )
    repeated = [entry.id for number, entry in enumerate(entries) if entry.id in {e.id for e in entries[:number]}]
    if repeated:
        raise UsageError(f"{where}: two entries have the id {repeated[0]!r}, give each one of its own")
    unreached = tuple(
        _unreached(table, f"{where}, unreached {number}", aliases or {})
        for number, table in enumerate(_tables(content, "unreached", where), 1)
    )
    return Ledger(entries=entries, unreached=unreached)


def _tables(content: Mapping[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    value = content.get(key, [])
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise UsageError(f"{where}: write {key!r} as tables, [[{key}]]")
    return value


def _entry(table: dict[str, Any], where: str, aliases: Mapping[str, str]) -> Entry:
    _check_keys(table, _KEYS, where)
    where = f"{where} ({_text(table, 'id', where)})"
    texts = {key: _text(table, key, where) for key in ("id", "reason", "reference")}
    names = {key: _texts(table, key, where) for key in _NAMES}
    flags = {key: table.get(key, False) for key in _FLAGS}
    for key, value in flags.items():
        if not isinstance(value, bool):
            raise UsageError(f"{where}: {key} must be true or false, not {value!r}")
    if not any((*names.values(), *flags.values())):
        raise UsageError(f"{where}: it explains nothing, give it one of {', '.join((*_NAMES, *_FLAGS))}")
    subjects = [aliases.get(name, name) for name in _texts(table, "subjects", where)]
    if len(subjects) != 2:
        raise UsageError(f"{where}: subjects must be a list of two subjects, as given to gate")
    groups = table.get("any", [])
    if not isinstance(groups, list):
        raise UsageError(f"{where}: write 'any' as tables, [[difference.any]]")
    everywhere = "scope" in table
    if everywhere and table["scope"] != EVERY_CASE:
        raise UsageError(f"{where}: scope is left out, or {EVERY_CASE!r} for an entry without conditions")
    if everywhere and (groups or table.get("when")):
        raise UsageError(f"{where}: it has conditions, and its scope says {EVERY_CASE!r}: leave one of the two out")
    return Entry(
        id=texts["id"],
        reason=texts["reason"],
        reference=texts["reference"],
        fields=names["fields"],
        environment=names["environment"],
        absent=names["absent"],
        refusal=flags["refusal"],
        refusals=flags["refusals"],
        subjects=(normal_name(subjects[0]), normal_name(subjects[1])),
        named=(subjects[0], subjects[1]),
        when=conditions_from_toml(table.get("when", {}), f"{where}, when"),
        any=tuple(conditions_from_toml(group, f"{where}, any") for group in groups),
        everywhere=everywhere,
        **_upkeep(table, where),
    )


def _unreached(table: dict[str, Any], where: str, aliases: Mapping[str, str]) -> Unreached:
    _check_keys(table, _UNREACHED_KEYS, where)
    texts = {key: _text(table, key, where) for key in _UNREACHED_TEXTS}
    subject = aliases.get(texts["subject"], texts["subject"])
    values: dict[str, Any] = {**texts, "subject": normal_name(subject), **_upkeep(table, where)}
    return Unreached(**values)


def _upkeep(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the ``owner`` and the ``expires`` of a table, if it has them."""
    found: dict[str, Any] = {}
    if "owner" in table:
        found["owner"] = _text(table, "owner", where)
    if "expires" in table:
        day = table["expires"]
        # A datetime is also a date for isinstance, but an entry expires with a day.
        if not isinstance(day, datetime.date) or isinstance(day, datetime.datetime):
            raise UsageError(f"{where}: expires must be a date without quotes, such as 2030-12-31, not {day!r}")
        found["expires"] = day
    return found


def _check_keys(table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"{where}: unknown key {key!r}{hint(key, known)}, known are {', '.join(known)}")


def _text(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str):
        raise UsageError(f"{where}: it needs {key}, a text" + (f", not {value!r}" if value is not None else ""))
    if not value.strip():
        raise UsageError(f"{where}: its {key} is empty, write one")
    return value


def _texts(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError(f"{where}: {key} must be a list of texts")
    return tuple(value)


_OTHER: Final = {"first": "second", "second": "first"}


def _turned(entry: Entry) -> Entry:
    """Return the entry with its two subjects exchanged, also in its conditions."""

    def turn(conditions: Conditions) -> Conditions:
        turned = []
        for condition in conditions:
            head, _, rest = condition.path.partition(".")
            path = f"{_OTHER[head]}.{rest}" if head in _OTHER else condition.path
            turned.append(msgspec.structs.replace(condition, path=path))
        return tuple(turned)

    return msgspec.structs.replace(
        entry,
        subjects=(entry.subjects[1], entry.subjects[0]),
        named=(entry.named[1], entry.named[0]),
        when=turn(entry.when),
        any=tuple(turn(group) for group in entry.any),
    )
