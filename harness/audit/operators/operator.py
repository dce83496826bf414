"""Defines what an operator is (one kind of fault), and finds the faults of all operators in a file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Any, NamedTuple, get_args, get_type_hints

import libcst as cst

from harness.audit.reading.files import MutableFile, TextSpan
from harness.audit.reading.mutant import Mutant, Role
from harness.audit.reading.vocabulary import Vocabulary
from harness.audit.reading.walk import CodeNode, assigned


class Edit(NamedTuple):
    """One fault, as a change of text: what is at ``span`` becomes ``text``. ``role`` says what the fault touches."""

    span: TextSpan
    text: str
    role: Role


@dataclass(frozen=True)
class FaultContext:
    """What an operator gets besides the node itself: the nodes around it, its file, and the package's vocabulary."""

    here: CodeNode
    file: MutableFile
    vocabulary: Vocabulary

    @property
    def parent(self) -> cst.CSTNode:
        """The node directly around this one."""
        return self.here.parent

    @property
    def role(self) -> Role:
        """The node's role: ``guard`` in a table that ``in`` searches, since its members decide that condition."""
        if self.here.role in ("table", "value") and self.vocabulary.is_table(self._assigned_name()):
            return "guard"
        return self.here.role

    def _assigned_name(self) -> str:
        """Return the plain name that the outermost assignment around the node assigns to, or the empty string."""
        for outer in (*self.here.ancestors, self.here.node):
            if isinstance(outer, cst.Assign | cst.AnnAssign):
                target = assigned(outer)[0]
                return target.value if isinstance(target, cst.Name) else ""
        return ""

    def becomes(self, node: cst.CSTNode, text: str, role: Role | None = None) -> Edit:
        """Return the edit that replaces ``node`` with ``text``; parentheses around the node stay."""
        return Edit(self.file.span(node), text, role or self.role)


@dataclass(frozen=True)
class Operator:
    """One kind of fault: its name, one sentence on what it does, and the types of nodes in which it occurs.

    ``edits`` yields the faults of one such node; it is called separately for the nodes inside.
    """

    name: str
    does: str
    nodes: tuple[type[cst.CSTNode], ...]
    edits: Callable[[Any, FaultContext], Iterable[Edit]]


def operator(edits: Callable[[Any, FaultContext], Iterable[Edit]]) -> Operator:
    """Make an operator of a function that takes a node and its context and yields edits.

    The operator has the name of the function, and the first line of its docstring as its sentence. The annotation of
    the first parameter says which types of nodes the function gets, so that they are not listed a second time. Raises
    TypeError if there is no docstring, or if the annotation is not a type of node.
    """
    first = next(iter(inspect.signature(edits).parameters))
    hint = get_type_hints(edits)[first]
    nodes = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    if not edits.__doc__ or not all(issubclass(node, cst.CSTNode) for node in nodes):
        raise TypeError(f"operator {edits.__name__}: give it a docstring, and its first parameter a type of node")
    return Operator(edits.__name__, edits.__doc__.splitlines()[0], nodes, edits)


def faults(file: MutableFile, vocabulary: Vocabulary, operators: Sequence[Operator]) -> Iterator[Mutant]:
    """Yield the mutants of a file: operator after operator, those of one operator in the order of the text."""
    # One walk serves all operators, and each node goes only to those for its type: to ask every operator about every
    # node would take 24 calls a node.
    found: dict[str, list[Mutant]] = {operator.name: [] for operator in operators}

    @cache
    def interested(node: type[cst.CSTNode]) -> list[Operator]:
        return [operator for operator in operators if issubclass(node, operator.nodes)]

    for here in file.nodes:
        for each in interested(type(here.node)):
            for edit in each.edits(here.node, FaultContext(here, file, vocabulary)):
                found[each.name].append(_mutant(each, edit, file))
    for mutants in found.values():
        yield from mutants


def _mutant(operator: Operator, edit: Edit, file: MutableFile) -> Mutant:
    start, end = edit.span
    line, column = file.position_of(start)
    return Mutant(
        file=file.name,
        line=line,
        column=column,
        operator=operator.name,
        role=edit.role,
        before=file.text[start:end],
        after=edit.text,
    )
