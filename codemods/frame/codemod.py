"""What a codemod is: a class with a description, examples, and a function from a module to a module."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import libcst as cst

from codemods.reading.facts import RecordFacts
from codemods.reading.source import SourceFile


class Left(NamedTuple):
    """Something that a codemod found and did not change, and why. ``line`` is 0 where it is the whole file."""

    file: str
    line: int
    what: str
    reason: str


@dataclass(frozen=True)
class Change:
    """What a codemod made of one file: the module (the same object when nothing changed), how often, what it left."""

    module: cst.Module
    count: int = 0
    left: tuple[Left, ...] = ()


class Codemod(ABC):
    """One change to a tree. A subclass is a module's worth of purpose and takes what it needs as arguments.

    ``summary`` is one line that says what it does; ``examples`` are its tests and its documentation. Where
    ``reads_anew``, its facts must be those of the tree as the codemods of the step before it left it.
    """

    summary: ClassVar[str]
    reads_anew: ClassVar[bool] = False
    facts: RecordFacts

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
