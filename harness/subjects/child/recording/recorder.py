"""Counts and logs the writes and decisions of a tree: its modules are compiled with a call at each of them."""

import ast
import contextlib
import copy
import importlib.machinery
import os

from ....source.sites import Sites
from ....source.writes import targets_of

_WROTE = "__stackproof_wrote__"
_DECIDED = "__stackproof_decided__"
_MOST_SEQUENCES = 4096


class Recorder:
    """The sites of one tree and what happened at them.

    ``seen`` has two bytes for each of ``sites.decisions``: whether it was true, whether it was false. What was set
    there is listed in ``fresh``, and the writes by their numbers in ``written`` with their ``values``, until somebody
    takes them. ``kept`` are the writes of the cases of the last batch, by the case's number.
    """

    def __init__(self, root, fields):
        self.sites = Sites(fields)
        self.seen = bytearray()
        self.fresh = []
        self.written = []
        self.values = []
        self.kept = {}
        # How many cases made each sequence of writes; few are different, and counting these is quick.
        self._cases = {}
        self._counts = []
        self._namespaces = []
        self._follower = None
        self._root = os.path.join(root, "")

    def instrumented(self, tree, path):
        """Return the parsed module with the calls in it; lines stay where they are."""
        writes, decisions = self.sites.add(tree, path.removeprefix(self._root))
        calls = _Calls(
            {site.node: len(self.sites.writes) - len(writes) + index for index, site in enumerate(writes)},
            {site.node: len(self.seen) + 2 * index for index, site in enumerate(decisions)},
        )
        self.seen.extend(bytes(2 * len(decisions)))
        return calls.visit(tree)

    def lines_of(self, file):
        """Return the lines of a file that was instrumented, as bytes."""
        with open(os.path.join(self._root, file), "rb") as source:
            return source.read().splitlines()

    def names(self):
        """Return what the calls are called, for the namespace of a module that has them."""
        return {_WROTE: self._writing(), _DECIDED: self._deciding()}

    def enter(self, namespace):
        """Bring the calls within reach of the code of a module, whose ``namespace`` this is."""
        namespace.update(self.names())
        self._namespaces.append(namespace)

    def keep(self, case):
        """Move what was written into ``kept``, as that of the case with the number ``case`` in its batch.

        Returns the numbers of the writes.
        """
        if not case:
            self.kept.clear()
        numbers = tuple(self.written)
        self.kept[case] = numbers, self.values[:]
        self._cases[numbers] = self._cases.get(numbers, 0) + 1
        if len(self._cases) > _MOST_SEQUENCES:
            self._count()
        self.drop()
        return numbers

    def drop(self):
        """Forget what was written and not taken."""
        self.written.clear()
        self.values.clear()

    def counts(self):
        """Return how often each of ``sites.writes`` ran in the cases that were kept, ever."""
        self._count()
        return self._counts

    def _count(self):
        self._counts += [0] * (len(self.sites.writes) - len(self._counts))
        for numbers, cases in self._cases.items():
            for number in numbers:
                self._counts[number] += cases
        self._cases.clear()

    @contextlib.contextmanager
    def noticing(self, numbers):
        """Within the block append the number of each outcome to ``numbers``; afterwards they are marked as ever."""
        try:
            with self.following(numbers):
                yield
        finally:
            self.mark(numbers)

    def mark(self, numbers):
        """Take note of outcomes by their numbers."""
        if self._follower is not None:
            self._follower += numbers
            return
        for number in numbers:
            if not self.seen[number]:
                self.seen[number] = 1
                self.fresh.append(number)

    @contextlib.contextmanager
    def following(self, numbers):
        """Within the block append the number of each outcome to ``numbers``, and mark none as seen.

        Another function stands in the modules for that long: the one that marks outcomes stays as fast as it is.
        """

        def decided(number, value):
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

    def _writing(self):
        # Looked up once, and not at each of a thousand calls a case.
        written, values = self.written.append, self.values.append

        def wrote(number, value):
            """Take note of one write and return the value."""
            written(number)
            values(value)
            return value

        return wrote

    def _deciding(self):
        seen, fresh = self.seen, self.fresh

        def decided(number, value):
            """Take note of one outcome and return it as it is."""
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
    """Puts the calls in: behind a statement that writes, around a declared value, around a decision."""

    def __init__(self, writes, decisions):
        self._writes = writes
        self._decisions = decisions

    def visit(self, node):
        if isinstance(node, ast.stmt):
            return self._statement(node)
        visited = self.generic_visit(node)
        if node in self._decisions:
            visited = _call(_DECIDED, self._decisions[node], visited)
        if node in self._writes and not isinstance(getattr(node, "ctx", None), ast.Store):
            visited = _call(_WROTE, self._writes[node], visited)
        return visited

    def _statement(self, node):
        targets = [target.node for target in targets_of(node) if isinstance(target.node, ast.expr)]
        after = [self._after(part) for target in targets for part in ast.walk(target) if part in self._writes]
        visited = self.generic_visit(node)
        if not after:
            return visited
        if isinstance(node, (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith)):
            visited.body = after + visited.body
            return visited
        return [visited, *after]

    def _after(self, target):
        """Return the statement that takes note of what ``target`` was just given."""
        read = copy.copy(target)
        read.ctx = ast.Load()
        return _at(target, ast.Expr(_call(_WROTE, self._writes[target], read)))


def _call(name, number, value):
    function, constant = _at(value, ast.Name(name, ast.Load())), _at(value, ast.Constant(number))
    return _at(value, ast.Call(function, [constant, value], []))


def _at(place, node):
    """Return ``node`` with the location of ``place``."""
    node.lineno, node.col_offset = place.lineno, place.col_offset
    node.end_lineno, node.end_col_offset = place.end_lineno, place.end_col_offset
    return node


class RecordingLoader(importlib.machinery.SourceFileLoader):
    """Loads a module with its writes and decisions recorded, or as it is when ``recorder`` is None."""

    def __init__(self, fullname, path, recorder):
        super().__init__(fullname, path)
        self._recorder = recorder

    def get_code(self, fullname):
        """Return the module's code, where it is recorded always from its text: a cached one has no calls in it."""
        if self._recorder is None:
            return super().get_code(fullname)
        tree = ast.parse(self.get_data(self.path), self.path)
        return compile(self._recorder.instrumented(tree, self.path), self.path, "exec", dont_inherit=True)

    def exec_module(self, module):
        """Run the module with the recorder in reach of its code."""
        if self._recorder is not None:
            self._recorder.enter(module.__dict__)
        super().exec_module(module)
