"""Collects the write sites and decisions of whole files for a report of reach: file by file, and in slot order."""

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Protocol

from .decisions import decisions_of
from .nodes import FUNCTIONS, Function, decorator_names, in_order, last_name
from .positions import NodeSpan, span_of, text_at
from .writes import CodeWrite, Fields


class Site:
    """One write site or decision: its node, and the function and file that it is in.

    ``field`` is the field that a write site writes, None for a decision. The node of a write site is the target, or
    the written value if there is no target.
    """

    __slots__ = ("field", "file", "function", "node", "write")

    def __init__(
        self, node: ast.expr, function: str, file: str, field: str | None = None, write: CodeWrite | None = None
    ):
        self.node = node
        self.function = function
        self.file = file
        self.field = field
        self.write = write

    @property
    def line(self) -> int:
        """The line in which it begins, from 1."""
        return self.node.lineno

    @property
    def span(self) -> NodeSpan:
        """Where in the file it is, with columns in bytes."""
        return span_of(self.node)

    def text(self, lines: list[bytes]) -> str:
        """Return the site's own text out of the ``lines`` of its file, on one line."""
        return text_at(lines, self.span)


class WrittenFields(Protocol):
    """Decides which writes of a node count. `Fields` does so by name; there may be other rules."""

    def written(self, node: ast.AST) -> Iterable[tuple[str, CodeWrite]]:
        """Return the writes of ``node`` itself that count, each with its field."""
        ...


class Sites:
    """The write sites of ``fields`` and all decisions of the files that are added, in the order of the text.

    Only code in functions is read, because code that runs at import is no part of the resolution. ``functions`` has
    all functions by name. If the fields become known only after the files were added, set ``counts``: `in_slot_order`
    returns only the write sites for which it is true.
    """

    def __init__(self, fields: WrittenFields | Collection[str]) -> None:
        self._fields: WrittenFields = Fields(fields) if isinstance(fields, Collection) else fields
        self._of_node: dict[ast.AST, list[Site]] = {}
        self._files: dict[Function, str] = {}
        self.functions: dict[str, list[Function]] = {}
        self.writes: list[Site] = []
        self.decisions: list[Site] = []
        self.counts: Callable[[Site], bool] = lambda site: True

    def add(self, tree: ast.AST, file: str) -> tuple[list[Site], list[Site]]:
        """Add one parsed file; return its write sites and its decisions, each in the order of the text."""
        writes: list[Site] = []
        decisions: list[Site] = []
        for node, function in self._in_functions(tree, file):
            for field, write in self._fields.written(node):
                site = Site(write.node, function, file, field, write)
                self._of_node.setdefault(node, []).append(site)
                writes.append(site)
            for test in decisions_of(node):
                site = Site(test, function, file)
                self._of_node.setdefault(test, []).append(site)
                decisions.append(site)
        for found in (writes, decisions):
            found.sort(key=lambda site: (site.line, site.node.col_offset))
        self.writes += writes
        self.decisions += decisions
        return writes, decisions

    def _in_functions(self, tree: ast.AST, file: str) -> Iterator[tuple[ast.AST, str]]:
        """Yield each node of a function's body with the function's name, and record all functions.

        Decorators, defaults and annotations are left out, because they are not part of what the resolution runs.
        """
        # A list instead of recursion: this walks every file of a tree in each child process.
        waiting: list[tuple[ast.AST, str]] = [(tree, "")]
        while waiting:
            node, function = waiting.pop()
            children: Iterable[ast.AST | None] = ast.iter_child_nodes(node)
            if isinstance(node, FUNCTIONS):
                self.functions.setdefault(node.name, []).append(node)
                self._files[node] = file
                children, function = node.body, node.name
            elif function:
                yield node, function
            if isinstance(node, ast.AnnAssign):
                children = (node.target, node.value)
            waiting += [(child, function) for child in reversed(list(children)) if child is not None]

    def decorated(self, names: Collection[str]) -> list[Function]:
        """Return the functions with one of the decorators ``names``: a registry calls them, so no call has their
        name.
        """
        every = (node for nodes in self.functions.values() for node in nodes)
        return [node for node in every if not decorator_names(node).isdisjoint(names)]

    def function(self, name: str, file: str, line: int) -> Function | None:
        """Return the first function called ``name`` at or below ``line`` of ``file``, None if there is none."""
        found = [node for node in self.functions.get(name, ()) if self._files[node] == file and node.lineno >= line]
        return min(found, key=lambda node: node.lineno, default=None)

    def in_slot_order(self, slots: Iterable[tuple[str, str | ast.AST]]) -> tuple[list[tuple[str, Site]], list[Site]]:
        """Return the write sites and the decisions that the slots reach, in order, each write site with its slot.

        ``slots`` are pairs of a slot and the function name or statement that it runs, in the order in which they run.
        What several slots reach is listed under the first. Calls are followed by name alone: this is a reading of the
        text, not a trace, so that it may list too much.
        """
        writes: list[tuple[str, Site]] = []
        decisions: list[Site] = []
        seen: set[ast.AST] = set()

        def follow(start: ast.AST, slot: str) -> None:
            if start in seen:
                return
            seen.add(start)
            for node in in_order(start):
                for site in self._of_node.get(node, ()):
                    if site.field is None:
                        decisions.append(site)
                    elif self.counts(site):
                        writes.append((slot, site))
                for called in self.functions.get(last_name(node), ()):
                    follow(called, slot)

        for slot, start in slots:
            for node in self.functions.get(start, ()) if isinstance(start, str) else [start]:
                follow(node, slot)
        return writes, decisions
