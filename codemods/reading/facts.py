"""What the codemods know of a tree's record, as plain data; `codemods.reading.record` puts it together.

The types are in a module of their own, below everything that reads a tree: each reader takes the facts found so far.
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
    """A place in the resolution where a field may be read or written and nothing shows whether, and why.

    ``fields`` are the fields concerned; None where it may be any. ``callee`` is the text of the function that the
    record is handed to, where it is handed to one.
    """

    file: str
    line: int
    what: str
    reason: str
    fields: frozenset[str] | None = None
    callee: str = ""


@dataclass(frozen=True)
class ResolutionFacts:
    """The functions that run from the call of ``entry`` until it returns, if they can get at the record."""

    entry: Definition | None = None
    """A method of the record, or a function that is handed it; None where the tree shows none."""
    reached: Mapping[Definition, frozenset[str]] = field(default_factory=dict)
    """The functions, each with the parameters that hold the record although neither name nor annotation shows it."""
    passes: frozenset[Definition] = frozenset()
    """The functions among them that only ever get a view of the record."""
    names: Mapping[tuple[Definition, str], frozenset[str]] = field(default_factory=dict)
    """The texts that a function's parameter is given, if every call writes its text out."""
    hidden: tuple[Hidden, ...] = ()
    """The places where the text does not show what happens to the record."""

    def in_the_way(self, name: str, known: Collection[str] = ()) -> tuple[Hidden, ...]:
        """Return where the field ``name`` may be read or written and nothing shows whether.

        What ``known`` callees do counts as known.
        """
        return tuple(
            item for item in self.hidden if (item.fields is None or name in item.fields) and item.callee not in known
        )


class Effects(NamedTuple):
    """What a function does to a record: fields it reads and writes, and whether it hands it to something unknown.

    ``behind`` are the fields that functions it calls read.
    """

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    unknown: bool = False
    behind: frozenset[str] = frozenset()

    def __or__(self, other: Effects) -> Effects:
        """Return the effects of two functions of which either may run."""
        sums = self.reads | other.reads, self.writes | other.writes, self.unknown or other.unknown
        return Effects(*sums, self.behind | other.behind)


@dataclass(frozen=True)
class RecordFacts:
    """What is known of the record of one tree."""

    record: Definition
    """The class of the record."""
    classes: frozenset[Definition]
    """The record, its ancestors in the tree (mixins of handlers included) and its descendants."""
    fields: Mapping[str, Definition]
    """The record's fields, each with the class that annotates it."""
    names: tuple[str, ...] = ("server_args",)
    """Names of parameters that hold a record wherever they are not annotated as something else."""
    passed: Mapping[Definition, frozenset[str]] = field(default_factory=dict)
    """The functions that the resolution hands a record to, each with the parameters that hold it."""
    arg: Definition | None = None
    """The class of a field's metadata, such as sglang's ``Arg``."""
    arg_parameters: tuple[str, ...] = ()
    """The fields of that class."""
    attributes: frozenset[str] = frozenset()
    """What methods assign besides fields."""
    tagged: frozenset[str] = frozenset()
    """The fields whose metadata marks them as resolvable already."""
    test_files: frozenset[str] = frozenset()
    """The files that pin the resolvable fields."""
    empty: Mapping[str, str] = field(default_factory=dict)
    """The methods that do nothing, each with the reason why it cannot be removed; "" where it can."""
    exports: frozenset[tuple[str, str]] = frozenset()
    """The (module, name) under which packages offer the record besides its own module."""
    getters: frozenset[tuple[str, str]] = frozenset()
    """The functions, as (module, name), whose annotation promises a record."""
    effects: Mapping[str, Effects] = field(default_factory=dict)
    """The effects of the record's methods, by name, and of functions that are handed a record, by ``file:name``."""
    constants: Mapping[Definition, tuple[str, ...]] = field(default_factory=dict)
    """The texts of each collection that a name of the resolution's files is assigned."""
    resolution: ResolutionFacts = field(default_factory=ResolutionFacts)
    """What runs until the record is resolved."""

    @property
    def runtime_file(self) -> str:
        """Where `add_runtime` puts the runtime: beside the record's own module."""
        folder, _, _ = self.record.file.rpartition("/")
        return f"{folder}/{RUNTIME}.py" if folder else f"{RUNTIME}.py"

    @property
    def runtime_module(self) -> str:
        """The dotted name of the runtime."""
        return dotted_name(self.runtime_file)

    @property
    def files(self) -> list[str]:
        """The files of the record's classes and of the functions that are handed a record, sorted."""
        return sorted({place.file for place in (*self.classes, *self.passed)})

    @cached_property
    def offered(self) -> frozenset[tuple[str, str | None]]:
        """The (module, name) by which files can import a class of the record."""
        own = {(dotted_name(place.file), place.name) for place in self.classes}
        return frozenset[tuple[str, str | None]]([*own, *self.exports])

    def check_field(self, name: str) -> None:
        """Raise UsageError when the record has no field ``name``."""
        if name in self.fields:
            return
        where = f"{self.record.name} in {self.record.file}"
        if name in self.attributes:
            raise UsageError(f"{where} assigns {name!r}, but has no such field: add the field first")
        raise UsageError(f"{where} has no field {name!r}{hint(name, self.fields)}")

    def check_written(self, name: str) -> None:
        """Raise UsageError when ``name`` is neither a field nor an attribute that a method assigns."""
        if name not in self.attributes:
            self.check_field(name)
