"""Which constants occur for which name in a package: what else could stand at a place that holds one of them.

A name is that of the field or variable written or compared, of the function that returns or is given the constant, or
of the key it belongs to. What a local variable is compared with says something of other functions' variables of that
name only where it says nothing of its own.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable

import libcst as cst

from harness.audit.entries import entries_of
from harness.audit.source import Source
from harness.audit.walk import Node, last_name, outer_function, written_names

Constant = str | int | float | bool | None

_OF = "/"


class Vocabulary:
    """The constants of ``sources``, by name."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._texts: defaultdict[str, set[Constant]] = defaultdict(set)
        self._members: defaultdict[str, set[str]] = defaultdict(set)
        self._configs: defaultdict[str, set[str]] = defaultdict(set)
        self._tables: set[str] = set()
        self._writers: defaultdict[str, set[cst.FunctionDef]] = defaultdict(set)
        # Where functions stand in explicit lists of what runs, and which functions name them.
        self._places: dict[str, int] = {}
        self._naming: defaultdict[str, set[str]] = defaultdict(set)
        links: set[tuple[str, str]] = set()
        for source in sources:
            for here in source.nodes:
                self._read(here, links)
        own = {name: frozenset(values) for name, values in self._texts.items()}
        for one, other in links:
            if not one or not other:
                continue
            self._texts[one] |= own.get(other, frozenset())
            self._texts[other] |= own.get(one, frozenset())

    def _read(self, here: Node, links: set[tuple[str, str]]) -> None:
        node = here.node
        function = outer_function(here)
        if function is not None:
            for name in written_names(node):
                self._writers[name].add(function)
            if isinstance(node, cst.Name):
                self._naming[node.value].add(function.name.value)
        elif isinstance(node, cst.Tuple | cst.List):
            for entry in entries_of(here):
                self._places.setdefault(last_name(entry.value), len(self._places))
        if isinstance(node, cst.SimpleString | cst.Integer | cst.Float | cst.Name) and is_constant(node):
            if name := name_of(here):
                self._texts[name].add(constant(node))
                self._texts[_anywhere(name)].add(constant(node))
        elif isinstance(node, cst.Comparison):
            for part in node.comparisons:
                links.add((_named(node.left, here), _named(part.comparator, here)))
                if isinstance(part.operator, cst.In | cst.NotIn):
                    self._tables.add(last_name(part.comparator))
        elif isinstance(node, cst.Attribute) and node.attr.value.endswith("config"):
            self._configs[last_name(node.value)].add(node.attr.value)
        elif isinstance(node, cst.Assign):
            links |= {(_named(target.target, here), _named(node.value, here)) for target in node.targets}
        elif isinstance(node, cst.Attribute) and is_member(node):
            self._members[last_name(node.value)].add(node.attr.value)

    def is_table(self, name: str) -> bool:
        """Return whether something is looked up in ``name`` by ``in``, anywhere in the package."""
        return bool(name) and name in self._tables

    def is_written_elsewhere(self, name: str, function: cst.FunctionDef | None) -> bool:
        """Return whether another function than ``function`` writes a field of that name, or declares it.

        One that comes after it in the explicit lists of what runs does not count.
        """
        others = self._writers.get(name, set()) - {function}
        if function is None:
            return bool(others)
        last = max(self._runs_at(function.name.value), default=None)
        for other in others:
            first = min(self._runs_at(other.name.value), default=None)
            if first is None or last is None or first < last:
                return True
        return False

    def _runs_at(self, name: str) -> set[int]:
        """Return the places in the lists of a function, or of those that call it."""
        found, waiting, seen = set(), [name], {name}
        while waiting:
            name = waiting.pop()
            if name in self._places:
                found.add(self._places[name])
                continue
            waiting += self._naming.get(name, set()) - seen
            seen |= self._naming.get(name, set())
        return found

    def other_configs(self, owner: str, config: str) -> list[str]:
        """Return the other configs than ``config`` that objects called ``owner`` have, if that is one."""
        known = self._configs.get(owner, set())
        return sorted(known - {config}) if config in known else []

    def others(self, name: str, value: Constant) -> list[Constant]:
        """Return the other constants that occur for ``name``, those that follow ``value`` in order first."""
        found = [other for other in self._texts.get(name, ()) if not _same(other, value)]
        found = found or [other for other in self._texts.get(_anywhere(name), ()) if not _same(other, value)]
        known = sorted(found, key=_order)
        after = [other for other in known if _order(other) > _order(value)]
        return after + known[: len(known) - len(after)]

    def other_member(self, owner: str, member: str) -> str | None:
        """Return another constant of the class ``owner`` than ``member``, if the package uses one."""
        others = sorted(self._members.get(owner, set()) - {member})
        return next((other for other in others if other > member), others[0] if others else None)


def _order(value: Constant) -> tuple[str, str]:
    return type(value).__name__, repr(value)


def _same(one: Constant, other: Constant) -> bool:
    return type(one) is type(other) and one == other


def is_constant(node: cst.CSTNode) -> bool:
    """Return whether ``node`` is a literal text or number, True, False or None."""
    if isinstance(node, cst.Name):
        return node.value in ("True", "False", "None")
    if isinstance(node, cst.SimpleString):
        return "b" not in node.prefix.lower()
    return isinstance(node, cst.Integer | cst.Float)


def is_member(node: cst.CSTNode) -> bool:
    """Return whether ``node`` is a constant of a class, as ``Backend.FULL`` is."""
    if not isinstance(node, cst.Attribute) or not isinstance(node.value, cst.Name):
        return False
    owner = node.value.value
    return node.attr.value.isupper() and owner[:1].isupper() and not owner.isupper()


def constant(node: cst.SimpleString | cst.Integer | cst.Float | cst.Name) -> Constant:
    """Return the value of a constant's node."""
    value: Constant = ast.literal_eval(node.value)
    return value


def name_of(here: Node) -> str:
    """Return the name that a constant occurs for, the empty string for one that stands alone."""
    inner = here.node
    for outer in reversed(here.ancestors):
        name = _name_at(outer, inner, here)
        if name is not None:
            return name
        inner = outer
    return ""


def _named(node: cst.CSTNode, here: Node) -> str:
    """Return the name that ``node`` ends in; one that is local to a function comes with that function's."""
    name = last_name(node)
    if not isinstance(node, cst.Name) or not name or name.isupper():
        return name
    functions = [ancestor.name.value for ancestor in here.ancestors if isinstance(ancestor, cst.FunctionDef)]
    return f"{functions[-1]}{_OF}{name}" if functions else name


def _anywhere(name: str) -> str:
    """Return what a local name is called whatever function it is in."""
    return _OF + name.rpartition(_OF)[2] if _OF in name else name


def _name_at(outer: cst.CSTNode, inner: cst.CSTNode, here: Node) -> str | None:
    """Return the name that ``outer`` gives to what stands in its part ``inner``, None if it gives none."""
    if isinstance(outer, cst.ComparisonTarget):
        return None
    if isinstance(outer, cst.Comparison):
        return _named(outer.comparisons[0].comparator if inner is outer.left else outer.left, here)
    if isinstance(outer, cst.Assign):
        return _named(outer.targets[0].target, here)
    if isinstance(outer, cst.AugAssign | cst.AnnAssign):
        return _named(outer.target, here)
    if isinstance(outer, cst.Arg):
        return outer.keyword.value if outer.keyword is not None else None
    if isinstance(outer, cst.Call):
        return last_name(outer) + "()"
    if isinstance(outer, cst.Return):
        functions = [ancestor for ancestor in here.ancestors if isinstance(ancestor, cst.FunctionDef)]
        return functions[-1].name.value + "()" if functions else ""
    if isinstance(outer, cst.DictElement):
        return last_text(outer.key) if inner is outer.value else "{}"
    if isinstance(outer, cst.SubscriptElement):
        return "{}"
    return "" if isinstance(outer, cst.BaseStatement) else None


def last_text(node: cst.CSTNode) -> str:
    """Return the text of a literal key, else the name it ends in."""
    return str(constant(node)) if isinstance(node, cst.SimpleString) and is_constant(node) else last_name(node)
