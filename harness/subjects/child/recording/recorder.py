"""Records the writes and decisions of a tree: its modules are compiled with a call at each of them.

A tracer (``sys.settrace``, ``sys.monitoring``) sees lines and jumps, but neither the value that was written nor which
of several conditions in one line was asked. The calls see both, and take time only at a write or a decision.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import importlib.machinery
import os
import types
from collections.abc import Callable, Collection, Iterator
from typing import Any

from ....source.sites import Sites, WrittenFields
from ....source.writes import targets_of

_WROTE = "__stackproof_wrote__"
_DECIDED = "__stackproof_decided__"
# If more different sequences of writes than this are waiting to be counted, they are counted and dropped, so that
# they do not fill the memory.
_MOST_SEQUENCES = 4096


class Recorder:
    """The sites of one tree and what happened at them.

    - ``seen`` has two bytes for each of ``sites.decisions``: 1 if it was ever true, 1 if it was ever false. The
      position in ``seen`` is the number of the branch.
    - ``fresh`` has the numbers of the branches that were newly set in ``seen``, until `Novelty` takes them.
    - ``written`` has the numbers of the writes of the current case in order, and ``values`` the values written.
    - ``kept`` has the writes of each case of the last batch, by the case's number, as ``(numbers, values)``.
    """

    def __init__(self, root: str, fields: WrittenFields | Collection[str]) -> None:
        self.sites = Sites(fields)
        self.seen = bytearray()
        self.fresh: list[int] = []
        self.written: list[int] = []
        self.values: list[Any] = []
        self.kept: dict[int, tuple[tuple[int, ...], list[Any]]] = {}
        # How many cases made each sequence of writes, as far as `_counts` does not have them yet. Cases make few
        # different sequences, so counting sequences is quicker than counting each write of each case.
        self._cases: dict[tuple[int, ...], int] = {}
        self._counts: list[int] = []
        # The namespaces of all code with calls, and the list of the innermost `following`.
        self._namespaces: list[dict[str, Any]] = []
        self._follower: list[int] | None = None
        self._root = os.path.join(root, "")

    def instrumented(self, tree: ast.Module, path: str) -> ast.Module:
        """Put the calls into a parsed module and return it; the line numbers stay the same."""
        writes, decisions = self.sites.add(tree, path.removeprefix(self._root))
        calls = _Calls(
            {site.node: len(self.sites.writes) - len(writes) + index for index, site in enumerate(writes)},
            {site.node: len(self.seen) + 2 * index for index, site in enumerate(decisions)},
        )
        self.seen.extend(bytes(2 * len(decisions)))
        calls.visit(tree)
        return tree

    def lines_of(self, file: str) -> list[bytes]:
        """Return the lines of a file of the tree as bytes, because Python counts columns in bytes."""
        with open(os.path.join(self._root, file), "rb") as source:
            return source.read().splitlines()

    def names(self) -> dict[str, Callable[..., Any]]:
        """Return the functions that the calls call, by name, for the namespace of a module."""
        return {_WROTE: self._writing(), _DECIDED: self._deciding()}

    def enter(self, namespace: dict[str, Any]) -> None:
        """Put the functions that the calls call into the ``namespace`` of a module."""
        namespace.update(self.names())
        self._namespaces.append(namespace)

    def keep(self, case: int) -> tuple[int, ...]:
        """Move the writes since the last case into ``kept``, as those of the case with this number in its batch.

        Returns the numbers of the writes.
        """
        # Case 0 begins a new batch.
        if not case:
            self.kept.clear()
        numbers = tuple(self.written)
        self.kept[case] = numbers, self.values[:]
        self._cases[numbers] = self._cases.get(numbers, 0) + 1
        if len(self._cases) > _MOST_SEQUENCES:
            self._count()
        self.drop()
        return numbers

    def drop(self) -> None:
        """Forget the writes since the last case."""
        self.written.clear()
        self.values.clear()

    def counts(self) -> list[int]:
        """Return how often each of ``sites.writes`` ran in all cases that were ever kept."""
        self._count()
        return self._counts

    def _count(self) -> None:
        self._counts += [0] * (len(self.sites.writes) - len(self._counts))
        for numbers, cases in self._cases.items():
            for number in numbers:
                self._counts[number] += cases
        self._cases.clear()

    @contextlib.contextmanager
    def noticing(self, numbers: list[int]) -> Iterator[None]:
        """Within the block append the number of each branch to ``numbers``; afterwards they are marked as usual."""
        try:
            with self.following(numbers):
                yield
        finally:
            self.mark(numbers)

    def mark(self, numbers: list[int]) -> None:
        """Record the branches with these numbers as if they had just been taken."""
        if self._follower is not None:
            self._follower += numbers
            return
        for number in numbers:
            if not self.seen[number]:
                self.seen[number] = 1
                self.fresh.append(number)

    @contextlib.contextmanager
    def following(self, numbers: list[int]) -> Iterator[None]:
        """Within the block append the number of each branch that is taken to ``numbers``, and mark none as seen.

        For that long the modules get another function. A test in the usual function would slow down every decision of
        every case, but only few cases are followed.
        """

        def decided(number: int, value: Any) -> Any:
            numbers.append(number if value else number + 1)
            return value

        usual = [(namespace, namespace[_DECIDED]) for namespace in self._namespaces]
        outer, self._follower = self._follower, numbers
        for namespace in self._namespaces:
            namespace[_DECIDED] = decided
        try:
            yield
        finally:
            self._follower = outer
            for namespace, function in usual:
                namespace[_DECIDED] = function

    def _writing(self) -> Callable[[int, Any], Any]:
        # The methods are looked up once, and not at each of the thousand calls in a case.
        written, values = self.written.append, self.values.append

        def wrote(number: int, value: Any) -> Any:
            """Record one write and return the value."""
            written(number)
            values(value)
            return value

        return wrote

    def _deciding(self) -> Callable[[int, Any], Any]:
        seen, fresh = self.seen, self.fresh

        def decided(number: int, value: Any) -> Any:
            """Record one branch and return the condition's value unchanged."""
            if value:
                if not seen[number]:
                    seen[number] = 1
                    fresh.append(number)
            elif not seen[number + 1]:
                seen[number + 1] = 1
                fresh.append(number + 1)
            return value

        return decided


class _Calls(ast.NodeTransformer):
    """Puts the calls in: after a statement that writes, around a declared value, around a condition."""

    def __init__(self, writes: dict[ast.expr, int], decisions: dict[ast.expr, int]) -> None:
        self._writes = writes
        self._decisions = decisions

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt):
            return self._statement(node)
        visited = self.generic_visit(node)
        if node in self._decisions:
            visited = _call(_DECIDED, self._decisions[node], visited)
        if node in self._writes and not isinstance(getattr(node, "ctx", None), ast.Store):
            visited = _call(_WROTE, self._writes[node], visited)
        return visited

    def _statement(self, node: Any) -> Any:
        targets = [target.node for target in targets_of(node) if isinstance(target.node, ast.expr)]
        after = [self._after(part) for target in targets for part in ast.walk(target) if part in self._writes]
        visited: Any = self.generic_visit(node)
        if not after:
            return visited
        if isinstance(node, (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith)):
            visited.body = after + visited.body
            return visited
        return [visited, *after]

    def _after(self, target: Any) -> Any:
        """Return a statement that reads ``target`` again and records its value as just written."""
        read = copy.copy(target)
        read.ctx = ast.Load()
        return _at(target, ast.Expr(_call(_WROTE, self._writes[target], read)))


def _call(name: str, number: int, value: Any) -> Any:
    function, constant = _at(value, ast.Name(name, ast.Load())), _at(value, ast.Constant(number))
    return _at(value, ast.Call(function, [constant, value], []))


def _at(place: Any, node: Any) -> Any:
    """Return ``node`` with the location of ``place``, so that tracebacks show the tree's own lines."""
    node.lineno, node.col_offset = place.lineno, place.col_offset
    node.end_lineno, node.end_col_offset = place.end_lineno, place.end_col_offset
    return node


class RecordingLoader(importlib.machinery.SourceFileLoader):
    """Loads a module with its writes and decisions recorded, or unchanged if ``recorder`` is None."""

    def __init__(self, fullname: str, path: str, recorder: Recorder | None) -> None:
        super().__init__(fullname, path)
        self._recorder = recorder

    def get_code(self, fullname: str) -> types.CodeType | None:
        """Return the module's code. To be recorded it is compiled anew: the code in a ``.pyc`` file has no calls."""
        if self._recorder is None:
            return super().get_code(fullname)
        tree = self._recorder.instrumented(ast.parse(self.get_data(self.path), self.path), self.path)
        code: types.CodeType = compile(tree, self.path, "exec", dont_inherit=True)
        return code

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the module, with the functions that its calls call in its namespace."""
        if self._recorder is not None:
            self._recorder.enter(module.__dict__)
        super().exec_module(module)
