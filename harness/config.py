"""The settings of a project: the table ``[tool.stackproof]`` of its ``pyproject.toml``.

The file is looked for in the current folder and the folders above it; the first one that has the table counts.
Relative paths and subjects in the table start at the folder of that file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from harness.common.convert import changes, struct_from_json
from harness.common.errors import UsageError
from harness.common.toml import read_toml
from harness.common.wording import brief, path_of
from harness.common.writing import expanded
from harness.engine.options import GateOptions
from harness.subjects.sources.cache import VARIABLE, cache_root
from harness.world.hardware import hardware_from_json
from harness.world.model import model_from_json
from harness.world.profiles import OwnProfiles

FILE: Final = "pyproject.toml"
TABLE: Final = "tool.stackproof"

_Name = Annotated[str, msgspec.Meta(min_length=1)]
_NUMBER = "a whole number from 1 on"


class _BudgetTable(msgspec.Struct, frozen=True):
    cases: Annotated[int, msgspec.Meta(ge=1, le=10**12)] | None = None
    seconds: Annotated[float, msgspec.Meta(ge=0.1, le=1e9)] | None = None
    seed: Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] = 0
    jobs: Annotated[int, msgspec.Meta(ge=1, le=1024)] | None = None


class _LimitsTable(msgspec.Struct, frozen=True):
    case_seconds: Annotated[float, msgspec.Meta(ge=0.01, le=86400)] = 10.0
    memory_mib: Annotated[int, msgspec.Meta(ge=128, le=1 << 24)] = 2048


class _ProjectTable(msgspec.Struct, frozen=True):
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
    """A setting: its key, its value as text, and its source.

    The source is ``pyproject.toml``, the name of an environment variable, or ``built in``.
    """

    key: str
    value: str
    source: str


@dataclass(frozen=True)
class Config:
    """The settings of a project. A setting that ``[tool.stackproof]`` does not have gets its built-in value.

    ``file`` is the ``pyproject.toml`` with the table, None if there is none. ``given`` has the keys that the table
    sets, such as ``budget.seed``. ``subjects`` has two names, or none if the table sets none. ``options`` are the
    options of a gate, and ``profiles`` the project's own machines and models.
    """

    file: Path | None = None
    given: frozenset[str] = frozenset()
    subjects: tuple[str, ...] = ()
    options: GateOptions = field(default_factory=GateOptions)
    profiles: OwnProfiles = field(default_factory=OwnProfiles)

    @property
    def folder(self) -> Path:
        """The folder at which subjects and relative paths in the settings start."""
        return Path.cwd() if self.file is None else self.file.parent

    def settings(self) -> Iterator[Setting]:
        """Yield every setting, in the order in which the documentation lists them."""
        options = self.options
        values: list[tuple[str, Any, str]] = [
            ("subjects", self.subjects, "none: name two"),
            ("fields", options.fields, "all that both resolve"),
            ("all_fields", options.all_fields, ""),
            ("ledger", options.ledger, "none"),
            ("answers", options.answers, "none"),
            ("python", options.python, "the interpreter that runs stackproof"),
            ("budget.cases", options.most_cases, "no number"),
            ("budget.seconds", options.seconds, "no limit"),
            ("budget.seed", options.seed, ""),
            ("budget.jobs", options.jobs, "one a core"),
            ("limits.case_seconds", options.case_seconds, ""),
            ("limits.memory_mib", options.memory_mib, ""),
        ]
        for head, named in (
            ("domains", options.domains),
            ("hardware", self.profiles.hardware),
            ("model", self.profiles.models),
        ):
            values += [(f"{head}.{path_of(name)}", value, "") for name, value in named.items()]
        for key, value, unset in values:
            if isinstance(value, Path) and value.is_relative_to(self.folder):
                value = value.relative_to(self.folder)
            yield Setting(key, _shown(value) or unset, FILE if key in self.given else "built in")
        yield Setting("cache", str(cache_root()), VARIABLE if os.environ.get(VARIABLE) else "built in")


def _shown(value: Any) -> str:
    """Return a value as text; empty if there is no value.

    Of a machine or a model only the attributes are shown that are not the default.
    """
    if value is None or value == ():
        return ""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, msgspec.Struct):
        value = changes(value, type(value)())
    return msgspec.json.encode(value).decode()


def load_config(start: Path) -> Config:
    """Return the settings that hold in the folder ``start``.

    Raises UsageError for a file that cannot be read, for an unknown key, and for a wrong value.
    """
    for folder in (start, *start.parents):
        path = folder / FILE
        table = _table(path) if path.is_file() else None
        if table is not None:
            return _config(table, path)
    return Config()


def _table(path: Path) -> Any:
    """Return our table in the file ``path``, None if the file has no such table."""
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
    read = struct_from_json(_ProjectTable, table, f"{where}]", words=_KEYS)
    budget = struct_from_json(_BudgetTable, read.budget, f"{where}.budget]", words=_BUDGET_KEYS)
    limits = struct_from_json(_LimitsTable, read.limits, f"{where}.limits]", words=_LIMIT_KEYS)
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
        options=GateOptions(
            fields=tuple(read.fields),
            all_fields=read.all_fields,
            ledger=folder / read.ledger if read.ledger else None,
            answers=folder / read.answers if read.answers else None,
            python=_interpreter(folder, read.python),
            domains=read.domains,
            **msgspec.structs.asdict(budget),
            **msgspec.structs.asdict(limits),
        ),
        profiles=OwnProfiles(hardware=hardware, models=models),
    )


def _given(table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from (f"{key}.{path_of(name)}" for name in value)
        else:
            yield key


def _interpreter(folder: Path, text: str | None) -> str | None:
    """Return the interpreter that the setting ``text`` names, None if it is not set.

    A text with a folder in it is a path that starts at ``folder``. A bare name stays as it is, to be found on PATH.
    """
    return str(folder / expanded(text)) if text is not None and os.sep in text else text


def _check_plain(value: object, where: str) -> None:
    """Raise UsageError for a value that TOML allows but JSON cannot express, such as a date or infinity."""
    if isinstance(value, dict):
        for part in value.values():
            _check_plain(part, where)
    elif isinstance(value, list):
        for part in value:
            _check_plain(part, where)
    elif not isinstance(value, (bool, int, float, str)) or value != value or value in (float("inf"), float("-inf")):
        raise UsageError(f"{where}: {brief(value)} is no text, number, true, false, list or table")
