"""What stands where in a tree, read without importing it: classes and functions of modules, and what names mean."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from codemods.reading.files import SourceTree
from codemods.reading.source import SourceFile, Unreadable

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Definition(NamedTuple):
    """A top-level definition, or a method as ``Class.method``, of one file."""

    file: str
    name: str


class ModuleIndex:
    """The definitions and imports of one parsed file."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path = path
        self.tree = tree

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        """The classes, at whatever depth, by name."""
        return {node.name: node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)}

    @cached_property
    def functions(self) -> dict[str, Function]:
        """The top-level functions, and methods as ``Class.method``; of several of one name, the last."""
        found: dict[str, Function] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ClassDef):
                found |= {f"{node.name}.{item.name}": item for item in _functions_in(node.body)}
        return found | {item.name: item for item in _functions_in(self.tree.body)}

    @cached_property
    def assigned(self) -> dict[str, ast.expr]:
        """What names are assigned at the top level, once in the whole file."""
        stores = Counter(
            node.id
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        )
        found = {}
        for statement in self.tree.body:
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                if len(targets) == 1 and isinstance(targets[0], ast.Name) and stores[targets[0].id] == 1:
                    found[targets[0].id] = statement.value
        return found

    @cached_property
    def imports(self) -> dict[str, tuple[str, str | None]]:
        """Local name to (dotted module, name in it, or None for the module itself), wherever in the file."""
        found: dict[str, tuple[str, str | None]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom):
                module = self.absolute(node)
                found |= {alias.asname or alias.name: (module, alias.name) for alias in node.names}
            elif isinstance(node, ast.Import):
                found |= {alias.asname: (alias.name, None) for alias in node.names if alias.asname}
        return found

    def absolute(self, node: ast.ImportFrom) -> str:
        """Return the dotted name of the module that ``node`` imports from."""
        if not node.level:
            return node.module or ""
        parts = self.path.split("/")
        base = parts[: len(parts) - node.level]
        return ".".join([*base, *([node.module] if node.module else [])])


def _functions_in(body: list[ast.stmt]) -> Iterator[Function]:
    """Yield the functions of a body; those under ``if`` and ``try`` count, those inside functions do not."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
        elif not isinstance(node, ast.ClassDef):
            for part in ("body", "orelse", "finalbody"):
                yield from _functions_in(getattr(node, part, None) or [])
            for handler in getattr(node, "handlers", ()):
                yield from _functions_in(handler.body)


class TreeIndex:
    """The files of a tree, each parsed once, when it is first asked for."""

    def __init__(self, tree: SourceTree) -> None:
        self.tree = tree
        self._modules: dict[str, ModuleIndex | None] = {}
        self._names = frozenset(tree.names())

    def module(self, path: str) -> ModuleIndex | None:
        """Return the index of the file ``path``, or None when it is not there or does not parse."""
        if path not in self._modules:
            try:
                found = ModuleIndex(path, SourceFile(path, self.tree.read(path)).tree)
            except (KeyError, Unreadable):
                self._modules[path] = None
            else:
                self._modules[path] = found
        return self._modules[path]

    def file_of(self, dotted: str) -> str | None:
        """Return the file of the module ``dotted``, or None when the tree has none of this name."""
        stem = dotted.replace(".", "/")
        return next((path for path in (f"{stem}.py", f"{stem}/__init__.py") if path in self._names), None)

    def resolve(self, path: str, name: str, depth: int = 5) -> Definition | None:
        """Return where what ``name`` means at the top level of the file ``path`` is defined, through imports.

        Definitions are classes and functions; None for anything else, and for what is outside the tree.
        """
        module = self.module(path)
        if module is None or depth == 0:
            return None
        if name in module.classes or name in module.functions:
            return Definition(path, name)
        if name not in module.imports:
            return None
        dotted, original = module.imports[name]
        target = self.file_of(dotted) if original is not None else None
        if target is None or original is None:
            return None
        return self.resolve(target, original, depth - 1)


def dotted_name(path: str) -> str:
    """Return the module name of the file ``path``."""
    parts = path.removesuffix(".py").split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
