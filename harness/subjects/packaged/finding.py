"""Finds one package in a folder, and nothing else there; its modules are loaded with their writes recorded."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType

from harness.subjects.child.recording.recorder import Recorder, RecordingLoader


class PackageFinder(MetaPathFinder):
    """Finds the modules of ``package`` in ``root``, and only there; they are recorded if there is a ``recorder``."""

    def __init__(self, package: str, root: Path, recorder: Recorder | None) -> None:
        self._package = package
        self._root = str(root)
        self._recorder = recorder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of the package, None for every other module."""
        if fullname.partition(".")[0] != self._package:
            return None
        spec = PathFinder.find_spec(fullname, [self._root] if path is None else path)
        if spec is not None and self._recorder is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = RecordingLoader(fullname, spec.loader.path, self._recorder)
        return spec


def import_package(package: str, root: Path, recorder: Recorder | None) -> ModuleType:
    """Import ``package`` from ``root`` and return it. Raises whatever the import raises."""
    sys.meta_path.insert(0, PackageFinder(package, root, recorder))
    __import__(package)
    return sys.modules[package]
