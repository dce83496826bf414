"""The facts about a tree's record, as plain data; `codemods.reading.record` collects them.

The types have a module of their own because the modules that find facts also use those found before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from codemods.reading.index import Definition, dotted_name
from codemods.runtime.names import RUNTIME
from harness.common.errors import UsageError, hint


class Hidden(NamedTuple):
    """A place in the resolution that may read or write a field although its text does not show it."""

    file: str
    line: int
    what: str
    """The text of the place, on one line."""
    reason: str
    """Why nothing is known there."""
    fields: frozenset[str] | None = None
    """The fields that may be read or written; None if it may be any."""
    callee: str = ""
    """The text of the function that the place calls with the record, if that is the reason."""


@dataclass(frozen=True)
class ResolutionFacts:
    """The functions with access to the record that may run from the call of ``entry`` until it returns."""

    entry: Definition | None = None
    """The method of the record, or the function that gets the record, that resolves it; None if none was found."""
    reached: Mapping[Definition, frozenset[str]] = field(default_factory=dict)
    """The functions, each with the parameters that calls give the record (of a method, the first one)."""
    passes: frozenset[Definition] = frozenset()
    """Those of the functions that only get a view of the record, never the record itself."""
    names: Mapping[tuple[Definition, str], frozenset[str]] = field(default_factory=dict)
    """The strings that a function's parameter may be, by function and parameter, if every call shows its string."""
    hidden: tuple[Hidden, ...] = ()
    """The places where the source does not show what happens to the record."""

    def in_the_way(self, name: str, known: Collection[str] = ()) -> tuple[Hidden, ...]:
        """Return the hidden places that may access the field ``name``, without the calls of ``known`` callees."""
        return tuple(
            item for item in self.hidden if (item.fields is None or name in item.fields) and item.callee not in known
        )


class Effects(NamedTuple):
    """What a function, with those that it calls, does to the record."""

    reads: frozenset[str] = frozenset()
    """The fields that they read."""
    writes: frozenset[str] = frozenset()
    """The fields that they write."""
    unknown: bool = False
    """True if one of them passes the record to something that is not followed."""
    behind: frozenset[str] = frozenset()
    """The fields that the called functions read."""

    def __or__(self, other: Effects) -> Effects:
        """Return the effects of a call that may run either of two functions."""
        sums = self.reads | other.reads, self.writes | other.writes, self.unknown or other.unknown
        return Effects(*sums, self.behind | other.behind)


@dataclass(frozen=True)
class RecordFacts:
    """The facts about the record of one tree."""

    record: Definition
    """The class of the record."""
    classes: frozenset[Definition]
    """The record's class, its ancestors in the tree (mixins with handlers included) and its descendants."""
    fields: Mapping[str, Definition]
    """The record's fields, each with the class that annotates it."""
    names: tuple[str, ...] = ("server_args",)
    """A parameter with one of these names holds a record, unless it is annotated as something else."""
    passed: Mapping[Definition, frozenset[str]] = field(default_factory=dict)
    """The functions that the resolution passes the record to, each with the parameters that hold it."""
    arg: Definition | None = None
    """The class of the fields' metadata, such as sglang's ``Arg``; None if they have none."""
    arg_parameters: tuple[str, ...] = ()
    """The fields of that class."""
    attributes: frozenset[str] = frozenset()
    """The attributes that the record's classes assign or declare and that are not fields."""
    tagged: frozenset[str] = frozenset()
    """The fields whose metadata marks them as resolvable already."""
    test_files: frozenset[str] = frozenset()
    """The files that pin the resolvable fields: those that hold the text ``PINNED``."""
    empty: Mapping[str, str] = field(default_factory=dict)
    """The methods that do nothing, each with the reason why it cannot be removed; "" if it can."""
    exports: frozenset[tuple[str, str]] = frozenset()
    """The re-exports of the record's class by packages, as (module, name)."""
    getters: frozenset[tuple[str, str]] = frozenset()
    """The functions whose return annotation is the record's class, as (module, name)."""
    effects: Mapping[str, Effects] = field(default_factory=dict)
    """The effects of the record's methods, by name, and of functions that get the record, by ``file:name``."""
    constants: Mapping[Definition, tuple[str, ...]] = field(default_factory=dict)
    """The strings of each named collection that the files of the resolution assign or import."""
    resolution: ResolutionFacts = field(default_factory=ResolutionFacts)
    """The functions that run until the record is resolved."""

    @property
    def runtime_file(self) -> str:
        """The path at which `add_runtime` puts the runtime: beside the record's own module."""
        folder, _, _ = self.record.file.rpartition("/")
        return f"{folder}/{RUNTIME}.py" if folder else f"{RUNTIME}.py"

    @property
    def runtime_module(self) -> str:
        """The dotted name of the runtime's module."""
        return dotted_name(self.runtime_file)

    @property
    def files(self) -> list[str]:
        """The files of the record's classes and of the functions that get the record, sorted."""
        return sorted({place.file for place in (*self.classes, *self.passed)})

    @cached_property
    def offered(self) -> frozenset[tuple[str, str | None]]:
        """The names under which other files can import one of the record's classes, as (module, name)."""
        own = {(dotted_name(place.file), place.name) for place in self.classes}
        return frozenset[tuple[str, str | None]]([*own, *self.exports])

    def check_field(self, name: str) -> None:
        """Raise UsageError if the record has no field ``name``."""
        if name in self.fields:
            return
        where = f"{self.record.name} in {self.record.file}"
        if name in self.attributes:
            raise UsageError(f"{where} assigns {name!r}, but has no such field: add the field first")
        raise UsageError(f"{where} has no field {name!r}{hint(name, self.fields)}")

    def check_written(self, name: str) -> None:
        """Raise UsageError if ``name`` is neither a field nor one of the other ``attributes``."""
        if name not in self.attributes:
            self.check_field(name)
