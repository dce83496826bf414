"""What an operator is: a kind of fault, with examples from which its tests are made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import libcst as cst

from harness.audit.mutant import Mutant, Role
from harness.audit.source import Source, Span
from harness.audit.vocabulary import Vocabulary
from harness.audit.walk import Node


@dataclass(frozen=True)
class Example:
    """A module, and all modules that the operator makes of it, in the order in which it makes them."""

    before: str
    after: tuple[str, ...]


@dataclass(frozen=True)
class Edit:
    """One fault: what stands at ``span`` becomes ``text``."""

    span: Span
    text: str
    role: Role


@dataclass(frozen=True)
class Place:
    """A node with its file and the package's vocabulary."""

    here: Node
    source: Source
    vocabulary: Vocabulary

    @property
    def role(self) -> Role:
        """What the node is there for; what is looked up in is part of a condition, wherever it is declared."""
        if self.here.role in ("table", "value") and self.vocabulary.is_table(self.declared_name()):
            return "guard"
        return self.here.role

    def declared_name(self) -> str:
        """Return the name that what the node belongs to is assigned to, the empty string if that is no plain name."""
        for ancestor in (*self.here.ancestors, self.here.node):
            if isinstance(ancestor, cst.Assign):
                target: cst.CSTNode = ancestor.targets[0].target
            elif isinstance(ancestor, cst.AnnAssign):
                target = ancestor.target
            else:
                continue
            return target.value if isinstance(target, cst.Name) else ""
        return ""

    def becomes(self, node: cst.CSTNode, text: str, role: Role | None = None) -> Edit:
        """Return the edit that puts ``text`` in the place of ``node``, inside the parentheses around it."""
        return Edit(self.source.span(node), text, role or self.role)


class Operator(ABC):
    """One kind of fault. A module of `harness.audit.operators` holds one subclass, and is called as the kind is."""

    examples: ClassVar[tuple[Example, ...]] = ()
    unchanged: ClassVar[tuple[str, ...]] = ()

    @property
    def name(self) -> str:
        """The name of its module."""
        return type(self).__module__.rpartition(".")[2]

    @abstractmethod
    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the faults of this kind that ``node`` itself can have; its children are asked about in turn."""

    def mutants(self, source: Source, vocabulary: Vocabulary) -> Iterator[Mutant]:
        """Yield the mutants of a file, in the order of its text."""
        for here in source.nodes:
            for edit in self.edits(here.node, Place(here, source, vocabulary)):
                before = source.text[edit.span.start : edit.span.end]
                line, column = source.place_of(edit.span.start)
                yield Mutant(
                    file=source.file,
                    line=line,
                    column=column,
                    operator=self.name,
                    role=edit.role,
                    before=before,
                    after=edit.text,
                )
