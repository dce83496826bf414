"""The base class of codemods: each has a summary, and turns a module into a changed module."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import libcst as cst

from codemods.reading.facts import RecordFacts
from codemods.reading.source import SourceFile


class Left(NamedTuple):
    """Code that a codemod found and did not change."""

    file: str
    line: int
    """Its first line; 0 if it has no place in the file."""
    what: str
    """Its text, on one line."""
    reason: str
    """Why it was not changed."""
    fields: frozenset[str] = frozenset()
    """The fields that it reads or writes; empty if there are none, or if it may be any."""
    end: int = 0
    """Its last line; 0 if it has no place in the file."""

    def holds(self, file: str, line: int, field: str) -> bool:
        """Return whether this code includes the write of ``field`` in the given line."""
        return file == self.file and self.line <= line <= self.end and field in self.fields


@dataclass(frozen=True)
class Change:
    """The result of a codemod for one file."""

    module: cst.Module
    """The changed module; the same object as before if nothing changed."""
    count: int = 0
    """How many changes were made."""
    left: tuple[Left, ...] = ()
    """The code that was found but not changed."""


class StepFields(NamedTuple):
    """The fields of one step of a stack."""

    moving: tuple[str, ...]
    """The fields that this step moves."""
    moved: tuple[str, ...]
    """All fields that have moved once the step is done."""
    functions: tuple[str, ...]
    """The functions that write a field that this step moves."""


class DoesNotApply(Exception):
    """A codemod has nothing to do in a tree; the message says why, or is empty if no explanation is needed."""


@dataclass
class Codemod(ABC):
    """One kind of change to a tree. A subclass adds the arguments that it needs as further fields."""

    summary: ClassVar[str]
    """One line that says what the codemod does."""
    reads_anew: ClassVar[bool] = False
    """True if ``facts`` must be read again after the codemods before this one in the step."""

    facts: RecordFacts
    """The facts about the tree's record."""

    @classmethod
    def arguments(cls, facts: RecordFacts, step: StepFields, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments that the step determines, without the user's ``options``; may raise DoesNotApply."""
        return {}

    @abstractmethod
    def words(self) -> tuple[str, ...]:
        """Return the words that are searched for in each file; a file that holds none of them is not parsed."""

    def concerns(self, source: SourceFile) -> bool:
        """Return whether the codemod may change the file, or find something that it does not change.

        This should be quick: it saves the slow parsing with libcst.
        """
        return True

    @abstractmethod
    def apply(self, module: cst.Module, source: SourceFile) -> Change:
        """Return the result for ``module``, the tree of ``source``; both include the changes of earlier codemods."""

    def files(self) -> Mapping[str, str]:
        """Return the whole files that the codemod adds or replaces: their texts by path."""
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
        """Raises UsageError for a name that is neither a field nor an attribute that the record's classes assign."""
        for name in self.fields:
            self.facts.check_written(name)

    def words(self) -> tuple[str, ...]:
        """Return the fields' names."""
        return self.fields
