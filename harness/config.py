"""``[tool.stackproof]`` of a ``pyproject.toml``: what a team asks of every gate, and where each value is from.

The file is the nearest one, from a folder upward, that has the table. Paths in it, and subjects, are relative to its
folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from harness.common.convert import struct_from_json
from harness.common.defaults import DEFAULT_CASES
from harness.common.errors import UsageError
from harness.common.toml import read_toml
from harness.common.wording import brief, path_of
from harness.common.writing import expanded
from harness.subjects.sources.cache import VARIABLE, cache_root
from harness.world.hardware import hardware_from_json
from harness.world.model import model_from_json
from harness.world.profiles import OwnProfiles

FILE: Final = "pyproject.toml"
TABLE: Final = "tool.stackproof"

_Name = Annotated[str, msgspec.Meta(min_length=1)]
_NUMBER = "a whole number from 1 on"


class _Budget(msgspec.Struct, frozen=True):
    cases: Annotated[int, msgspec.Meta(ge=1, le=10**12)] | None = None
    seconds: Annotated[float, msgspec.Meta(ge=0.1, le=1e9)] | None = None
    seed: Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] = 0
    jobs: Annotated[int, msgspec.Meta(ge=1, le=1024)] | None = None


class _Limits(msgspec.Struct, frozen=True):
    case_seconds: Annotated[float, msgspec.Meta(ge=0.01, le=86400)] = 10.0
    memory_mib: Annotated[int, msgspec.Meta(ge=128, le=1 << 24)] = 2048


class _Table(msgspec.Struct, frozen=True):
    subjects: Annotated[list[_Name], msgspec.Meta(min_length=2, max_length=2)] | None = None
    fields: list[_Name] = []
    all_fields: bool = False
    ledger: _Name | None = None
    answers: _Name | None = None
    python: _Name | None = None
    budget: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    domains: dict[str, list[Any]] = {}
    hardware: dict[str, Any] = {}
    model: dict[str, Any] = {}


_KEYS: Final = {
    "subjects": 'a list of two subjects, the original and its successor, such as ["git:main", "dir:."]',
    "fields": "a list of names of fields",
    "all_fields": "true or false",
    "ledger": "the path of a ledger",
    "answers": "the path of a file of answers",
    "python": "the path or the name of an interpreter",
    "budget": "a table",
    "limits": "a table",
    "domains": "a table of lists of values, one an argument",
    "hardware": "a table of machines, one a name",
    "model": "a table of models, one a name",
}
_BUDGET_KEYS: Final = {
    "cases": _NUMBER,
    "seconds": "a number from 0.1 on",
    "seed": "a whole number",
    "jobs": "a whole number from 1 to 1024",
}
_LIMIT_KEYS: Final = {
    "case_seconds": "a number of seconds from 0.01 to 86400",
    "memory_mib": "a whole number of MiB from 128 on",
}


class Setting(NamedTuple):
    """A value in use, and where it is from: ``pyproject.toml``, a variable, or ``built in``."""

    key: str
    value: str
    source: str


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """What ``[tool.stackproof]`` says, with defaults for what it is silent about.

    ``file`` is where it stands, None where there is none; ``given`` are the keys that it has. ``subjects`` are two or
    none. ``cases`` is None where only ``seconds`` were given; ``jobs`` is None for one a core.
    """

    file: Path | None = None
    given: frozenset[str] = frozenset()
    subjects: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    all_fields: bool = False
    ledger: Path | None = None
    answers: Path | None = None
    python: str | None = None
    cases: int | None = DEFAULT_CASES
    seconds: float | None = None
    seed: int = 0
    jobs: int | None = None
    case_seconds: float = 10.0
    memory_mib: int = 2048
    domains: dict[str, list[Any]] = {}
    profiles: OwnProfiles = OwnProfiles()

    @property
    def folder(self) -> Path:
        """The folder that subjects and paths are relative to."""
        return Path.cwd() if self.file is None else self.file.parent

    def settings(self) -> Iterator[Setting]:
        """Yield every value in use with its source, in the order of the documentation."""
        values: list[tuple[str, Any, str]] = [
            ("subjects", self.subjects, "none: name two"),
            ("fields", self.fields, "all that both resolve"),
            ("all_fields", self.all_fields, ""),
            ("ledger", self.ledger, "none"),
            ("answers", self.answers, "none"),
            ("python", self.python, "the interpreter that runs stackproof"),
            ("budget.cases", self.cases, "no number"),
            ("budget.seconds", self.seconds, "no limit"),
            ("budget.seed", self.seed, ""),
            ("budget.jobs", self.jobs, "one a core"),
            ("limits.case_seconds", self.case_seconds, ""),
            ("limits.memory_mib", self.memory_mib, ""),
        ]
        values += [(f"domains.{path_of(name)}", listed, "") for name, listed in self.domains.items()]
        values += [(f"hardware.{path_of(name)}", machine, "") for name, machine in self.profiles.hardware.items()]
        values += [(f"model.{path_of(name)}", model, "") for name, model in self.profiles.models.items()]
        for key, value, silent in values:
            if isinstance(value, Path) and value.is_relative_to(self.folder):
                value = value.relative_to(self.folder)
            yield Setting(key, _told(value) or silent, FILE if key in self.given else "built in")
        yield Setting("cache", str(cache_root()), VARIABLE if os.environ.get(VARIABLE) else "built in")


def _told(value: Any) -> str:
    """Return a value in brief as TOML has it; empty for none."""
    if value is None or value == ():
        return ""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, msgspec.Struct):
        usual = type(value)()
        changed = {
            name: getattr(value, name)
            for name in value.__struct_fields__
            if getattr(value, name) != getattr(usual, name)
        }
        return msgspec.json.encode(changed).decode()
    return msgspec.json.encode(value).decode()


def load_config(start: Path) -> Config:
    """Return the configuration for somebody who stands in ``start``; defaults where no file has the table.

    Raises UsageError for a file that cannot be read, an unknown key, a wrong value.
    """
    for folder in (start, *start.parents):
        path = folder / FILE
        table = _table(path) if path.is_file() else None
        if table is not None:
            return _config(table, path)
    return Config()


def _table(path: Path) -> Any:
    """Return the table of a file, None where it has none."""
    content: Any = read_toml(path, str(path))
    for key in TABLE.split("."):
        if not isinstance(content, dict) or key not in content:
            return None
        content = content[key]
    return content


def _config(table: Any, path: Path) -> Config:
    where = f"{path} [{TABLE}"
    if not isinstance(table, dict):
        raise UsageError(f"{where}] must be a table, not {brief(table)}")
    read = struct_from_json(_Table, table, _KEYS, f"{where}]")
    budget = struct_from_json(_Budget, read.budget, _BUDGET_KEYS, f"{where}.budget]")
    limits = struct_from_json(_Limits, read.limits, _LIMIT_KEYS, f"{where}.limits]")
    for name, values in read.domains.items():
        for value in values:
            _check_plain(value, f"{where}.domains]: {path_of(name)}")
    hardware = {name: hardware_from_json(value, f"{where}.hardware]", name) for name, value in read.hardware.items()}
    models = {name: model_from_json(value, f"{where}.model]", name) for name, value in read.model.items()}
    if read.fields and read.all_fields:
        raise UsageError(f"{where}]: fields and all_fields ask for opposite things, give one of them")
    folder = path.parent
    return Config(
        file=path,
        given=frozenset(_given(table)),
        subjects=tuple(read.subjects or ()),
        fields=tuple(read.fields),
        all_fields=read.all_fields,
        ledger=folder / read.ledger if read.ledger else None,
        answers=folder / read.answers if read.answers else None,
        python=_interpreter(folder, read.python),
        cases=DEFAULT_CASES if budget.cases is None and budget.seconds is None else budget.cases,
        seconds=budget.seconds,
        seed=budget.seed,
        jobs=budget.jobs,
        case_seconds=limits.case_seconds,
        memory_mib=limits.memory_mib,
        domains=read.domains,
        profiles=OwnProfiles(hardware=hardware, models=models),
    )


def _given(table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from (f"{key}.{path_of(name)}" for name in value)
        else:
            yield key


def _interpreter(folder: Path, text: str | None) -> str | None:
    """Return an interpreter; a path with a folder in it is relative to the file's."""
    return str(folder / expanded(text)) if text is not None and os.sep in text else text


def _check_plain(value: object, where: str) -> None:
    """Raise UsageError for a value that JSON has no word for, such as a date."""
    if isinstance(value, dict):
        for part in value.values():
            _check_plain(part, where)
    elif isinstance(value, list):
        for part in value:
            _check_plain(part, where)
    elif not isinstance(value, (bool, int, float, str)) or value != value or value in (float("inf"), float("-inf")):
        raise UsageError(f"{where}: {brief(value)} is no text, number, true, false, list or table")
