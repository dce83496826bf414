"""Records which constants occur for each name of a package, so that a fault can replace one with a plausible other.

The name of a constant is that of the field or variable that it is assigned to or compared with, of the function that
returns it or gets it as an argument, or of the key it belongs to. The name of a local variable has that of its
function in front (``f/x``), because two functions seldom mean the same by one local name. The constants of local
variables of that name in other functions are used only if the own function has no other constant for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import libcst as cst

from harness.audit.reading.constants import ConstantValue, constant, is_constant, is_member
from harness.audit.reading.displays import entries_of
from harness.audit.reading.files import MutableFile
from harness.audit.reading.walk import CodeNode, assigned, last_name, outer_function, written_names

_OF = "/"


class Vocabulary:
    """What some files have for each name: its constants, writers, configs, and whether it is a lookup table."""

    def __init__(self, files: Iterable[MutableFile]) -> None:
        self._constants: defaultdict[str, set[ConstantValue]] = defaultdict(set)
        self._members: defaultdict[str, set[str]] = defaultdict(set)
        self._configs: defaultdict[str, set[str]] = defaultdict(set)
        self._tables: set[str] = set()
        self._writers: defaultdict[str, set[cst.FunctionDef]] = defaultdict(set)
        # The position of each function in the explicit lists of what runs.
        self._positions: dict[str, int] = {}
        # The functions that mention each name.
        self._mentioning: defaultdict[str, set[str]] = defaultdict(set)
        links: set[tuple[str, str]] = set()
        for file in files:
            for here in file.nodes:
                self._read(here, links)
        # Two names that are compared with or assigned to each other share their constants. The sharing goes no
        # further: through a chain of such names, one common name would give all constants to all fields.
        own = {name: frozenset(values) for name, values in self._constants.items()}
        for one, other in links:
            if one and other:
                self._constants[one] |= own.get(other, frozenset())
                self._constants[other] |= own.get(one, frozenset())

    def _read(self, here: CodeNode, links: set[tuple[str, str]]) -> None:
        """Record what one node tells. Adds the names that it compares or assigns, as pairs, to ``links``."""
        node = here.node
        function = outer_function(here)
        if function is not None:
            for name in written_names(node):
                self._writers[name].add(function)
            if isinstance(node, cst.Name):
                self._mentioning[node.value].add(function.name.value)
        elif isinstance(node, cst.Tuple | cst.List):
            for entry in entries_of(here):
                self._positions.setdefault(last_name(entry.value), len(self._positions))
        if is_constant(node):
            if name := name_of(here):
                self._constants[name].add(constant(node))
                self._constants[_in_any_function(name)].add(constant(node))
        elif isinstance(node, cst.Comparison):
            for part in node.comparisons:
                links.add((_named(node.left, here), _named(part.comparator, here)))
                if isinstance(part.operator, cst.In | cst.NotIn):
                    self._tables.add(last_name(part.comparator))
        elif isinstance(node, cst.Attribute) and node.attr.value.endswith("config"):
            self._configs[last_name(node.value)].add(node.attr.value)
        elif isinstance(node, cst.Assign):
            links |= {(_named(target, here), _named(node.value, here)) for target in assigned(node)}
        elif isinstance(node, cst.Attribute) and is_member(node):
            self._members[last_name(node.value)].add(node.attr.value)

    def is_table(self, name: str) -> bool:
        """Return whether the package looks something up in ``name`` with ``in``."""
        return bool(name) and name in self._tables

    def is_written_before(self, name: str, function: cst.FunctionDef | None) -> bool:
        """Return whether another function writes or declares the field ``name`` and may run before ``function``.

        The explicit lists of what runs tell the order; a function to which no list leads may run at any time.
        """
        others = self._writers.get(name, set()) - {function}
        if function is None:
            return bool(others)
        last = max(self._positions_of(function.name.value), default=None)
        for other in others:
            first = min(self._positions_of(other.name.value), default=None)
            if first is None or last is None or first < last:
                return True
        return False

    def _positions_of(self, name: str) -> set[int]:
        """Return the position of a function in the explicit lists, or else those of the functions that lead to it."""
        found, waiting, seen = set(), [name], {name}
        while waiting:
            name = waiting.pop()
            if name in self._positions:
                found.add(self._positions[name])
                continue
            waiting += self._mentioning.get(name, set()) - seen
            seen |= self._mentioning.get(name, set())
        return found

    def other_configs(self, owner: str, config: str) -> list[str]:
        """Return the other configs that objects called ``owner`` have; none if ``config`` is not one of theirs."""
        known = self._configs.get(owner, set())
        return sorted(known - {config}) if config in known else []

    def others(self, name: str, value: ConstantValue) -> list[ConstantValue]:
        """Return the other constants that occur for ``name``, sorted, but starting with those after ``value``."""
        found = [other for other in self._constants.get(name, ()) if not _same(other, value)]
        found = found or [
            other for other in self._constants.get(_in_any_function(name), ()) if not _same(other, value)
        ]
        known = sorted(found, key=_order)
        after = [other for other in known if _order(other) > _order(value)]
        return after + known[: len(known) - len(after)]

    def other_member(self, owner: str, member: str) -> str | None:
        """Return the constant of the class ``owner`` that comes after ``member``; None if no other is used."""
        return following(member, self._members.get(owner, set()))


def following(name: str, names: Iterable[str]) -> str | None:
    """Return the next of ``names`` after ``name``, with the first after the last; None if there is no other."""
    others = sorted({*names} - {name})
    return next((other for other in others if other > name), others[0] if others else None)


def _order(value: ConstantValue) -> tuple[str, str]:
    return type(value).__name__, repr(value)


def _same(one: ConstantValue, other: ConstantValue) -> bool:
    return type(one) is type(other) and one == other


def name_of(here: CodeNode) -> str:
    """Return the name that a constant belongs to, as described above in this module, or the empty string."""
    inner = here.node
    for outer in reversed(here.ancestors):
        name = _name_at(outer, inner, here)
        if name is not None:
            return name
        inner = outer
    return ""


def _named(node: cst.CSTNode, here: CodeNode) -> str:
    """Return the last name of ``node``, with its function's name in front if it is local to a function."""
    name = last_name(node)
    if not isinstance(node, cst.Name) or not name or name.isupper():
        return name
    functions = here.functions()
    return f"{functions[-1].name.value}{_OF}{name}" if functions else name


def _in_any_function(name: str) -> str:
    """Return the name that stands for a local variable of that name in any function; other names stay as they are."""
    return _OF + name.rpartition(_OF)[2] if _OF in name else name


def _name_at(outer: cst.CSTNode, inner: cst.CSTNode, here: CodeNode) -> str | None:
    """Return the name that ``outer`` gives its part ``inner``: empty for none, None if a node further out decides."""
    match outer:
        case cst.ComparisonTarget():
            return None
        case cst.Comparison():
            return _named(outer.comparisons[0].comparator if inner is outer.left else outer.left, here)
        case cst.Assign() | cst.AugAssign() | cst.AnnAssign():
            return _named(assigned(outer)[0], here)
        case cst.Arg():
            return outer.keyword.value if outer.keyword is not None else None
        case cst.Call():
            return last_name(outer) + "()"
        case cst.Return():
            functions = here.functions()
            return functions[-1].name.value + "()" if functions else ""
        case cst.DictElement() if inner is outer.value:
            return _key(outer.key)
        case cst.DictElement() | cst.SubscriptElement():
            return "{}"
        case cst.BaseStatement():
            return ""
    return None


def _key(node: cst.CSTNode) -> str:
    """Return the text of a literal key, or else the last name of the expression."""
    return str(constant(node)) if isinstance(node, cst.SimpleString) and is_constant(node) else last_name(node)
