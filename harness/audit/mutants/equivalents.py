"""Reads the list of equivalents: a file that names mutants which change no outcome, each with the reason.

The list names a fault by file, function, operator and a digest of the lines that it changes, not by its line number.
So an entry stays valid while other parts of the source file change. When the faulty lines themselves change, no
mutant has that name any more, and a person has to look at the entry again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from harness.audit.mutants.package import MutablePackage
from harness.audit.reading.mutant import Mutant
from harness.common.errors import UsageError
from harness.common.toml import read_toml

FORMAT: Final = "stackproof.equivalents/1"


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """The name of a mutant, without line numbers. ``function`` is empty for code that runs at import."""

    file: str
    function: str
    operator: str
    digest: str


class Equivalent(Fault, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry: a fault, and why it changes no outcome."""

    reason: str

    @property
    def fault(self) -> Fault:
        """The fault, without the reason."""
        return Fault(file=self.file, function=self.function, operator=self.operator, digest=self.digest)


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    format: str
    equivalent: list[Equivalent] = []


class Equivalents:
    """The reasons in a list of equivalents, found by fault. ``Equivalents()`` is an empty list."""

    def __init__(self, entries: Iterable[Equivalent] = (), where: str = "") -> None:
        """Raises UsageError if two entries name the same fault, or if an entry has no reason."""
        self._where = where
        self._reasons: dict[Fault, str] = {}
        for entry in entries:
            if entry.fault in self._reasons:
                raise UsageError(f"{where}: two entries have the digest {entry.digest} in {entry.function}: drop one")
            if not entry.reason.strip():
                raise UsageError(
                    f"{where}: {entry.digest} in {entry.function} has no reason: say why it shows nowhere"
                )
            self._reasons[entry.fault] = entry.reason.strip()

    def reason(self, fault: Fault) -> str | None:
        """Return the reason why a fault changes no outcome; None if the fault is not listed."""
        return self._reasons.get(fault)

    def check(self, package: MutablePackage) -> None:
        """Raise UsageError if an entry names no mutant of the package, because its lines have changed."""
        files = {fault.file for fault in self._reasons}
        # A file that is gone has no mutants, so its entries are refused below.
        known = files & package.texts.keys()
        faults = set(faults_of(package, package.mutants(files=known)).values()) if known else set()
        for fault in self._reasons:
            if fault not in faults:
                raise UsageError(
                    f"{self._where}: {fault.digest} ({fault.operator} in {fault.function or 'the module'} of "
                    f"{fault.file}) is no mutant of {package.name} any more: look at those lines again, or drop it"
                )


def load_equivalents(path: Path) -> Equivalents:
    """Return the entries of the file ``path``. Raises UsageError if it cannot be read or has another format."""
    where = f"equivalents {path}"
    try:
        found = msgspec.convert(read_toml(path, where), _File)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}") from None
    if found.format != FORMAT:
        raise UsageError(f"{where}: write format = {FORMAT!r} at its top, not {found.format!r}")
    return Equivalents(found.equivalent, where)


def entry_text(fault: Fault) -> str:
    """Return the text of an entry for ``fault``, with an empty reason that a person has to fill in."""
    lines = [
        f"{name} = {msgspec.json.encode(value).decode()}" for name, value in msgspec.structs.asdict(fault).items()
    ]
    return "\n".join(["[[equivalent]]", *lines, 'reason = ""'])


def faults_of(package: MutablePackage, mutants: Iterable[Mutant]) -> Mapping[Mutant, Fault]:
    """Return for each of ``mutants`` the `Fault` that names it. Raises UsageError for a mutant of other sources."""
    return {mutant: _fault(package, mutant) for mutant in mutants}


def _fault(package: MutablePackage, mutant: Mutant) -> Fault:
    first, count = mutant.line - 1, mutant.before.count("\n") + 1
    before, after = _stripped(package.texts.get(mutant.file, "")), _stripped(package.mutated(mutant))
    old = before[first : first + count]
    new = after[first : first + mutant.after.count("\n") + 1]
    function = package.function_of(mutant)
    # The digest includes how often the same lines occur earlier in the function, so that repeats get different ones.
    earlier = sum(before[line : line + count] == old for line in range(function.first - 1, first))
    digest = hashlib.sha256(msgspec.json.encode([old, new, earlier])).hexdigest()[:12]
    return Fault(file=mutant.file, function=function.name, operator=mutant.operator, digest=digest)


def _stripped(text: str) -> list[str]:
    """Return the lines of a text without indentation and trailing comments, so that neither changes a digest."""
    return [line.partition("  # ")[0].strip() for line in text.split("\n")]
