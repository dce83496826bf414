"""Reads what a subject's resolution defines: record, functions and constants, and which of them write a field."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from harness.common.errors import UsageError
from harness.moves.cuts import FieldCutter
from harness.moves.tables import TableText
from harness.source.functions import defined_names, needed
from harness.source.nodes import FUNCTIONS, Function, decorator_names, last_name, used
from harness.source.sites import Sites
from harness.subjects.spec import SubjectSpec

# If more definitions than this share a name, only those in the same file count: the name alone does not tell which
# of the others is meant.
_MOST_NAMESAKES: Final = 2


@dataclass(frozen=True, eq=False)
class DefinedName:
    """A function, or a name that a module or class assigns: its name, its full name in its file, and its node."""

    name: str
    qualified: str
    file: str
    node: Function | ast.Assign | ast.AnnAssign

    @property
    def is_function(self) -> bool:
        """Whether it is a function."""
        return isinstance(self.node, FUNCTIONS)

    @property
    def place(self) -> str:
        """Its file and line."""
        return f"{self.file}:{self.node.lineno}"


class Definitions:
    """What the modules of a subject's resolution define, by name.

    ``record`` maps each argument to its declaration in the record. ``leaves`` maps it to the declarations of the same
    name in other classes.
    ``tables`` has every name that a module assigns, with its value.

    Raises UsageError for a file that cannot be parsed.
    """

    def __init__(self, spec: SubjectSpec) -> None:
        self._spec = spec
        self.trees = {file: _parsed(spec, file) for file in _files(spec)}
        self._record_name = spec.profile["record"].partition(":")[2]
        # The case answers in place of these functions, so they never run.
        self._answered = frozenset(() if spec.own else (answer["name"] for answer in spec.profile["answers"]))
        self.record: dict[str, DefinedName] = {}
        self.leaves: dict[str, list[DefinedName]] = {}
        self.tables: list[tuple[DefinedName, TableText]] = []
        self.named: dict[str, list[DefinedName]] = {}
        for file, tree in self.trees.items():
            self._find_record(file, tree.body)
        for file, tree in self.trees.items():
            self._scan(file, self._loaded(file, tree), "")
        written = spec.profile["slice"]
        self.fields = tuple(dict.fromkeys((*self.record, *written["fields"], *written["state"])))
        self._written = self._writes()
        self.cutter = FieldCutter(self._written)
        self.used_by = cache(self._used_by)
        self.writes_in = cache(self._writes_of_function)
        self.sequence = cache(self._sequence)
        self.names_leading_to = cache(self._names_leading_to)
        self._lead = self._reached()

    # -- what there is ------------------------------------------------------------------------------------------

    def _find_record(self, file: str, body: Sequence[ast.stmt]) -> None:
        records = [node for node in body if isinstance(node, ast.ClassDef) and node.name == self._record_name]
        for statement in (statement for node in records for statement in node.body):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                name = statement.target.id
                self.record[name] = DefinedName(name, f"{self._record_name}.{name}", file, statement)

    def _loaded(self, file: str, tree: ast.Module) -> list[ast.stmt]:
        """Return the statements of a module that run in the child process, which loads some modules only in part."""
        parts = () if self._spec.own else self._spec.profile["partial"]
        names = next((part["names"] for part in parts if _file_of(part["module"]) == file), None)
        return tree.body if names is None else needed(tree, names)

    def _scan(self, file: str, body: Iterable[ast.stmt], owner: str) -> None:
        """Take every definition of a body. ``owner`` is the full name of the class around it, with a dot behind."""
        for node in body:
            if isinstance(node, ast.ClassDef):
                self._scan(file, node.body, f"{owner}{node.name}.")
            elif isinstance(node, ast.If | ast.Try | ast.With):
                inner = [*node.body, *getattr(node, "orelse", []), *getattr(node, "finalbody", [])]
                self._scan(file, inner, owner)
            elif isinstance(node, Function | ast.Assign | ast.AnnAssign):
                for name in defined_names(node):
                    self._take(DefinedName(name, f"{owner}{name}", file, node), owner)

    def _take(self, found: DefinedName, owner: str) -> None:
        """Enter a definition where it is looked up later: in `leaves`, or in `named` and perhaps `tables`."""
        if found.name in self.record and not found.is_function and owner:
            if owner != f"{self._record_name}.":
                self.leaves.setdefault(found.name, []).append(found)
            return
        if f"{_module_of(found.file)}.{found.qualified}" in self._answered:
            return
        if owner and not found.is_function and not found.name.isupper():
            # Any object may have an attribute of that name, so a use of the name tells nothing. A name in capitals is
            # kept: it is a constant, or a member of an enumeration.
            return
        self.named.setdefault(found.name, []).append(found)
        if not found.is_function and not owner and found.node.value is not None:  # type: ignore[union-attr]
            self.tables.append((found, TableText(found.node.value)))  # type: ignore[union-attr]

    def _writes(self) -> dict[ast.AST, str]:
        sites = Sites(self.fields)
        for file, tree in self.trees.items():
            sites.add(tree, file)
        return {site.node: str(site.field) for site in sites.writes}

    # -- what leads where ---------------------------------------------------------------------------------------

    def meant(self, name: str, file: str) -> list[DefinedName]:
        """Return the definitions that ``name`` in ``file`` may mean; none if too many share the name."""
        found = self.named.get(name, [])
        if len(found) > _MOST_NAMESAKES:
            found = [definition for definition in found if definition.file == file]
        return found if len(found) <= _MOST_NAMESAKES else []

    def meant_by(self, names: Iterable[str], file: str) -> list[DefinedName]:
        """Return the definitions that any of ``names`` may mean, with the names in alphabetical order."""
        return [definition for name in sorted(names) for definition in self.meant(name, file)]

    def _used_by(self, definition: DefinedName) -> list[DefinedName]:
        """Return the definitions that a definition mentions."""
        return self.meant_by(used([definition.node]), definition.file)

    def _roots(self) -> list[DefinedName]:
        """Return the functions that a resolution starts from: the record's entry, and those that a registry calls."""
        every = [definition for found in self.named.values() for definition in found if definition.is_function]
        if self._spec.own:  # all functions of our own packages belong to the resolution
            return every
        cut = self._spec.profile["slice"]
        registered = set(cut["registrations"])
        return [
            definition
            for definition in every
            if definition.qualified == f"{self._record_name}.{cut['entry']}"
            or bool(self.decorators(definition) & registered)
        ]

    def decorators(self, definition: DefinedName) -> frozenset[str]:
        """Return the names of a function's decorators."""
        return decorator_names(definition.node)

    def is_registered(self, definition: DefinedName) -> bool:
        """Whether a registry calls the function (a pass or provider); in our packages, whether it is decorated."""
        names = self.decorators(definition)
        return bool(names) if self._spec.own else bool(names & set(self._spec.profile["slice"]["registrations"]))

    def _reached(self) -> dict[DefinedName, set[str]]:
        """Map each function that the resolution may reach to the fields that it writes, itself or through calls."""
        callers: dict[DefinedName, list[DefinedName]] = {}
        wanted, seen = self._roots(), dict[DefinedName, None]()
        while wanted:
            function = wanted.pop()
            if function in seen:
                continue
            seen[function] = None
            for called in self.used_by(function):
                if called.is_function:
                    callers.setdefault(called, []).append(function)
                    wanted.append(called)
        leads = {function: set(self.writes_in(function)) for function in seen}
        # Pass the fields on to the callers, and to their callers, until nothing changes.
        changed = [function for function in seen if leads[function]]
        while changed:
            function = changed.pop()
            for caller in callers.get(function, ()):
                if not leads[function] <= leads[caller]:
                    leads[caller] |= leads[function]
                    changed.append(caller)
        return leads

    def _writes_of_function(self, definition: DefinedName) -> frozenset[str]:
        """Return the fields that a function writes itself."""
        fields = (self._written.get(node) for node in ast.walk(definition.node))
        return frozenset(field for field in fields if field is not None)

    def leading_to(self, field: str) -> Iterator[DefinedName]:
        """Yield the functions that write ``field``, or call one that does."""
        return (definition for definition, fields in self._lead.items() if field in fields)

    def _sequence(self, definition: DefinedName) -> dict[str, tuple[int, frozenset[str]]]:
        """Return the names in a function or list that lead to writes of fields, in the order of first mention.

        With each name go its line and the fields that it leads to.
        """
        found: dict[str, tuple[int, frozenset[str]]] = {}
        nodes = (node for node in ast.walk(definition.node) if isinstance(node, ast.Attribute | ast.Name))
        for node in sorted(nodes, key=lambda node: (node.lineno, node.end_col_offset or 0)):
            name = last_name(node)
            fields = {field for one in self.meant(name, definition.file) for field in self._lead.get(one, ())}
            if fields:
                found.setdefault(name, (node.lineno, frozenset(fields)))
        return found

    def leads(self, definition: DefinedName, field: str) -> bool:
        """Whether a function writes ``field``, or calls one that does."""
        return field in self._lead.get(definition, ())

    def _names_leading_to(self, field: str, file: str) -> frozenset[str]:
        """Return the names that in ``file`` mean a function which writes ``field``, or calls one that does."""
        names = {definition.name for definition in self.leading_to(field)}
        return frozenset(name for name in names if any(self.leads(one, field) for one in self.meant(name, file)))


def _files(spec: SubjectSpec) -> list[str]:
    """Return the files that hold the resolution, relative to the tree's root."""
    root = spec.tree.root
    if spec.own:
        return sorted(path.relative_to(root).as_posix() for path in (root / spec.package).rglob("*.py"))
    modules = [*spec.profile["real"], *(part["module"] for part in spec.profile["partial"])]
    found = dict.fromkeys(file for module in modules for file in (_file_of(module), _file_of(f"{module}.__init__")))
    return [file for file in found if (root / file).is_file()]


def _file_of(module: str) -> str:
    return module.replace(".", "/") + ".py"


def _module_of(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _parsed(spec: SubjectSpec, file: str) -> ast.Module:
    path: Path = spec.tree.root / file
    try:
        return ast.parse(path.read_bytes(), file)
    except OSError as error:
        raise UsageError(f"{spec.label}: {file} cannot be read: {error.strerror or error}") from None
    except (SyntaxError, ValueError, RecursionError) as error:
        raise UsageError(f"{spec.label}: {file} is not Python that can be parsed: {error}") from None
