"""Counts and logs the writes of a package: its modules are compiled with a call behind each write site."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

from harness.subjects.child.sites import Site, Sources

_CALL: Final = "__stackproof_wrote__"


class Recorder:
    """The write sites of one package and what happened at them.

    ``counts`` are the executions of each of ``sources.sites``; ``log`` holds ``(site, value)`` of each write while it
    is a list, and nothing is logged while it is None.
    """

    def __init__(self, root: Path, names: Sequence[str]) -> None:
        self.sources = Sources(names)
        self.counts: list[int] = []
        self.log: list[tuple[Site, Any]] | None = None
        self._root = root

    def wrote(self, number: int, value: Any) -> None:
        """Take note of one write; called by the package's own compiled code."""
        self.counts[number] += 1
        if self.log is not None:
            self.log.append((self.sources.sites[number], value))

    def compiled(self, source: bytes, path: str) -> CodeType:
        """Return the code of a module with a call of ``wrote`` behind every statement that writes a field."""
        tree = ast.parse(source, path)
        first = len(self.counts)
        sites = self.sources.add(tree, Path(path).relative_to(self._root).as_posix())
        self.counts += [0] * len(sites)
        numbers = {site.node: first + index for index, site in enumerate(sites)}
        code: CodeType = compile(_Calls(numbers).visit(tree), path, "exec", dont_inherit=True)
        return code


class _Calls(ast.NodeTransformer):
    """Puts the calls in."""

    def __init__(self, numbers: dict[ast.AST, int]) -> None:
        self._numbers = numbers

    def visit_Assign(self, node: ast.Assign) -> Any:
        return self._followed(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        return self._followed(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        return self._followed(node)

    def _followed(self, node: ast.stmt) -> Any:
        written = [child for child in ast.walk(node) if child in self._numbers]
        return [node, *(self._call(target, node) for target in written)] if written else node

    def _call(self, target: Any, after: ast.stmt) -> ast.stmt:
        value = ast.Attribute(target.value, target.attr, ast.Load())
        number = ast.Constant(self._numbers[target])
        call = ast.Expr(ast.Call(ast.Name(_CALL, ast.Load()), [number, value], []))
        return ast.fix_missing_locations(ast.copy_location(call, after))


class RecordingFinder(MetaPathFinder):
    """Finds the modules of one package in ``root``, and only there."""

    def __init__(self, package: str, root: Path, recorder: Recorder) -> None:
        self._package = package
        self._root = str(root)
        self._recorder = recorder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module of the package is, None for every other module."""
        if fullname.partition(".")[0] != self._package:
            return None
        spec = PathFinder.find_spec(fullname, [self._root] if path is None else path)
        if spec is None or not isinstance(spec.loader, SourceFileLoader):
            return spec
        spec.loader = _Loader(fullname, spec.loader.path, self._recorder)
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, recorder: Recorder) -> None:
        super().__init__(fullname, path)
        self._recorder = recorder

    def get_code(self, fullname: str) -> CodeType:
        """Return the module's code, always from its text: a cached one has no calls in it."""
        return self._recorder.compiled(self.get_data(self.path), self.path)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module with the recorder in reach of its code."""
        setattr(module, _CALL, self._recorder.wrote)
        super().exec_module(module)


def import_recorded(package: str, root: Path, names: Sequence[str]) -> tuple[ModuleType, Recorder]:
    """Import ``package`` from ``root`` with its writes of ``names`` recorded. Raises what the import raises."""
    root = root.absolute()
    recorder = Recorder(root, names)
    sys.meta_path.insert(0, RecordingFinder(package, root, recorder))
    __import__(package)
    return sys.modules[package], recorder
