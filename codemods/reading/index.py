"""Finds the definitions and imports in a tree's modules, and what names mean there, without importing the tree."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cached_property
from typing import NamedTuple

from codemods.reading.files import SourceTree
from codemods.reading.source import SourceFile, Unreadable
from harness.source.constants import assignments
from harness.source.functions import defined_in
from harness.source.nodes import FUNCTIONS, Function, Scope
from harness.source.scopes import scopes_in, times_bound


class Definition(NamedTuple):
    """A class or function: its file, and its name there. The name of a method is ``Class.method``."""

    file: str
    name: str


class Imported(NamedTuple):
    """What an import brings in: the dotted name of a module, and a name in it, or None for the module itself."""

    module: str
    name: str | None


class ModuleIndex:
    """The definitions and imports of one parsed file; ``path`` is relative to the tree."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path = path
        self.tree = tree

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        """The classes by their own name, nested ones too."""
        return {one.name: one.node for one in defined_in(self.tree) if isinstance(one.node, ast.ClassDef)}

    @cached_property
    def definitions(self) -> dict[str, list[Function]]:
        """All functions of each name; the name of a method is ``Class.method``.

        A name has several if, for example, a condition chooses between two definitions. Functions inside functions
        are left out, because other functions cannot name them.
        """
        found: dict[str, list[Function]] = {}
        for one in defined_in(self.tree):
            if isinstance(one.node, FUNCTIONS) and (one.owner is not None or not one.is_inner):
                name = f"{one.owner.name}.{one.name}" if one.owner is not None else one.name
                found.setdefault(name, []).append(one.node)
        return found

    @cached_property
    def functions(self) -> dict[str, Function]:
        """The same functions by name; if a name has several, the last one."""
        return {name: nodes[-1] for name, nodes in self.definitions.items()}

    @cached_property
    def assigned(self) -> dict[str, ast.expr]:
        """The value of each name that the top level assigns, if nothing else in the file assigns the name."""
        names = (node for node in ast.walk(self.tree) if isinstance(node, ast.Name))
        stores = Counter(node.id for node in names if not isinstance(node.ctx, ast.Load))
        return {name: value for name, value in assignments(self.tree.body) if stores[name] == 1}

    @cached_property
    def every_import(self) -> dict[str, list[Imported]]:
        """All imports of each local name, anywhere in the file."""
        found: dict[str, list[Imported]] = {}
        for node in ast.walk(self.tree):
            for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
                origin = (
                    Imported(self.absolute(node), alias.name)
                    if isinstance(node, ast.ImportFrom)
                    else Imported(alias.name, None)
                )
                found.setdefault(alias.asname or alias.name, []).append(origin)
        return found

    @cached_property
    def imports(self) -> dict[str, Imported]:
        """The last import of each local name."""
        return {name: found[-1] for name, found in self.every_import.items()}

    @cached_property
    def bound(self) -> dict[Scope, dict[str, int]]:
        """How often each function and lambda binds each name.

        Cached because `codemods.reading.scopes` reads a file again each time one more of its functions is found to
        get the record. Without the cache, this count took a third of the time of reading a release.
        """
        return {scope: times_bound(scope) for scope in scopes_in(self.tree)}

    def absolute(self, node: ast.ImportFrom) -> str:
        """Return the dotted name of the module that ``node`` imports from."""
        if not node.level:
            return node.module or ""
        parts = self.path.split("/")
        base = parts[: len(parts) - node.level]
        return ".".join([*base, *([node.module] if node.module else [])])


_UNREADABLE = ModuleIndex("", ast.Module([], []))


class TreeIndex:
    """The files of a tree.

    Each is parsed once, when it is first needed, because parsing all 2,446 files of a release takes 26 seconds.
    """

    def __init__(self, tree: SourceTree) -> None:
        self.tree = tree
        self._modules: dict[str, ModuleIndex | None] = {}
        self._names = frozenset(tree.names())

    def module(self, path: str) -> ModuleIndex | None:
        """Return the index of the file ``path``, or None if there is no such file or it does not parse."""
        if path not in self._modules:
            try:
                self._modules[path] = ModuleIndex(path, SourceFile(path, self.tree.read(path)).tree)
            except (KeyError, Unreadable):
                self._modules[path] = None
        return self._modules[path]

    def read(self, path: str) -> ModuleIndex:
        """Return the index of the file ``path``; an empty one if there is no such file or it does not parse."""
        return self.module(path) or _UNREADABLE

    def definitions(self, place: Definition) -> list[Function]:
        """Return every function with the name of ``place`` in its file."""
        return self.read(place.file).definitions.get(place.name, [])

    def function(self, place: Definition) -> Function | None:
        """Return the function at ``place``, the last one if there are several, or None if there is none."""
        return self.read(place.file).functions.get(place.name)

    def class_at(self, place: Definition) -> ast.ClassDef | None:
        """Return the class at ``place``, or None if there is none."""
        return self.read(place.file).classes.get(place.name)

    def file_of(self, dotted: str) -> str | None:
        """Return the file of the module ``dotted``, or None if the tree has no such module."""
        stem = dotted.replace(".", "/")
        return next((path for path in (f"{stem}.py", f"{stem}/__init__.py") if path in self._names), None)

    def located(self, origin: Imported | None) -> Definition | None:
        """Return the file and the name that ``origin`` means; None for a module or for anything outside the tree."""
        file = self.file_of(origin.module) if origin is not None and origin.name is not None else None
        return Definition(file, origin.name) if file and origin is not None and origin.name is not None else None

    def resolve(self, path: str, name: str, depth: int = 5) -> Definition | None:
        """Return the definition of the class or function that ``name`` means at the top level of the file ``path``.

        Imports are followed, through at most ``depth`` files. The result is None if the name means anything else, or
        something outside the tree.
        """
        module = self.read(path)
        if depth == 0:
            return None
        if name in module.classes or name in module.functions:
            return Definition(path, name)
        origin = self.located(module.imports.get(name))
        return self.resolve(*origin, depth - 1) if origin else None


def dotted_name(path: str) -> str:
    """Return the module name of the file ``path``."""
    parts = path.removesuffix(".py").split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
