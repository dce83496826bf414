"""What a codemod is: a class with a description, and a function from a module to a module."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import libcst as cst

from codemods.reading.facts import RecordFacts
from codemods.reading.source import SourceFile


class Left(NamedTuple):
    """Something that a codemod found and did not change, and why.

    ``line`` is its first line and ``end`` its last, both 0 where it is the whole file; ``what`` is its text on one
    line. ``fields`` are the fields that it reads or writes; none where it may be any, or has to do with none.
    """

    file: str
    line: int
    what: str
    reason: str
    fields: frozenset[str] = frozenset()
    end: int = 0

    def holds(self, file: str, line: int, field: str) -> bool:
        """Return whether what was left includes the write of ``field`` in this line."""
        return file == self.file and self.line <= line <= self.end and field in self.fields


@dataclass(frozen=True)
class Change:
    """What a codemod made of one file: the module (the same object when nothing changed), how often, what it left."""

    module: cst.Module
    count: int = 0
    left: tuple[Left, ...] = ()


class StepFields(NamedTuple):
    """What a step of a stack is about: ``moving`` move now, ``moved`` have moved when it is done.

    ``functions`` are those that write one of the fields that move.
    """

    moving: tuple[str, ...]
    moved: tuple[str, ...]
    functions: tuple[str, ...]


class DoesNotApply(Exception):
    """A codemod has nothing to do in a tree; the message says why, or is empty where that goes without saying."""


@dataclass
class Codemod(ABC):
    """One change to a tree, the record of which ``facts`` describe. A subclass takes further arguments as it needs.

    ``summary`` is one line that says what it does. Where ``reads_anew``, its facts must be those of the tree as the
    codemods of the step before it left it.
    """

    summary: ClassVar[str]
    reads_anew: ClassVar[bool] = False

    facts: RecordFacts

    @classmethod
    def arguments(cls, facts: RecordFacts, step: StepFields, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments that follow from the step, besides ``options``; raises DoesNotApply."""
        return {}

    @abstractmethod
    def words(self) -> tuple[str, ...]:
        """Return words of which a file must hold one to be worth parsing."""

    def concerns(self, source: SourceFile) -> bool:
        """Return whether the file may change or be listed; asked before the slow parse, so it should be cheap."""
        return True

    @abstractmethod
    def apply(self, module: cst.Module, source: SourceFile) -> Change:
        """Return what becomes of ``module``; ``source`` is the file as it was before any codemod of the step."""

    def files(self) -> Mapping[str, str]:
        """Return whole files that the codemod sets beside what it changes, by path."""
        return {}


@dataclass
class FieldCodemod(Codemod):
    """A codemod that changes how the record's ``fields`` are written or read."""

    fields: tuple[str, ...]

    @classmethod
    def arguments(cls, facts: RecordFacts, step: StepFields, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that move."""
        return {"fields": step.moving}

    def __post_init__(self) -> None:
        """Raises UsageError for a name that is neither a field nor assigned in the record's methods."""
        for name in self.fields:
            self.facts.check_written(name)

    def words(self) -> tuple[str, ...]:
        """Return the fields' names."""
        return self.fields
