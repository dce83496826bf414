"""Decides what every import in a tree gets: the real module, part of it, or a stand-in."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from typing import Any

from ....source.functions import needed
from ..recording.recorder import Recorder, RecordingLoader
from ..world.answers import patch_real, value_getter
from ..world.current import WORLD
from ..world.held import HELD
from ..world.questions import observing_hasattr
from ..world.standins import ANSWERED, ReexportingModule, StandInModule

_STANDARD_LIBRARY = os.path.join(os.path.dirname(os.__file__), "")
# The top package of our own code, which has a private name in the process of a tree.
_OURS = (__package__ or "").partition(".")[0]


class TreeFinder(importlib.abc.MetaPathFinder):
    """Loads the tree's package from ``root``, and makes stand-ins for all packages outside the standard library.

    Modules that are loaded whole are recorded if there is a ``recorder``. The ``profile`` says:

    - ``real``: which modules of the package are loaded whole.
    - ``partial``: of which modules only some definitions are loaded.
    - ``reexports``: which stand-ins for packages pass on the names of one of their modules.
    - ``installed``: which foreign packages count as installed.
    - ``imports``: which foreign packages are installed only if an answer says so.
    """

    def __init__(self, root: str, profile: dict[str, Any], recorder: Recorder | None = None) -> None:
        self._root = root
        self._recorder = recorder
        self._package = profile["package"]
        self._real = set(profile["real"])
        self._partial = {entry["module"]: entry["names"] for entry in profile["partial"]}
        self._reexports = {entry["module"]: entry["of"] for entry in profile["reexports"]}
        self._installed = set(profile["installed"])
        self._imports = {spec["name"]: value_getter(spec) for spec in profile["imports"]}
        self._constant = {spec["name"] for spec in profile["imports"] if "value" in spec}

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a module.

        None leaves it to Python's own finders, which have the standard library and nothing else. So an import of any
        other module then fails, as if it were not installed.
        """
        top = name.partition(".")[0]
        if top == self._package:
            return self._find_own(name)
        if top in ("ctypes", "_ctypes"):
            WORLD.refuse(name, "loaded native code")
        if top in sys.stdlib_module_names or top == _OURS:
            return None
        return self._find_foreign(name, top)

    def _find_own(self, name):
        """Return the spec of a module of the tree's package: real, partial or a stand-in."""
        file = self.file_of(name)
        # While a case runs, an import of a module that the tree does not have fails as it would in reality. While the
        # tree is loading it gets a stand-in.
        if file is None and WORLD.active and not os.path.isdir(os.path.join(self._root, *name.split("."))):
            return None
        if name in self._real and file is not None:
            loader = RealLoader(name, file, self._recorder)
            if file.endswith("__init__.py"):
                return importlib.util.spec_from_file_location(
                    name, file, loader=loader, submodule_search_locations=[os.path.dirname(file)]
                )
            return importlib.util.spec_from_file_location(name, file, loader=loader)
        if name in self._partial and file is not None:
            loader = PartialLoader(file, self._partial[name])
            return importlib.machinery.ModuleSpec(name, loader, origin=file, is_package=True)
        return importlib.machinery.ModuleSpec(name, StandInLoader(self._reexports.get(name)), is_package=True)

    def _find_foreign(self, name, top):
        """Return the spec of a stand-in for a module of another package, None if it is not installed in the case."""
        known = next((known for known in (name, top) if known in self._imports), None)
        if known is None:
            if top not in self._installed:
                importer = _importer(sys._getframe(1))
                if importer is not None and importer.f_code.co_filename.startswith(_STANDARD_LIBRARY):
                    # The standard library tries to import modules that only other systems have.
                    return None
                WORLD.refuse(name, "was imported")
        elif known in self._constant:
            # The same in every case.
            if not self._imports[known]():
                return None
        elif WORLD.active:
            if not self._imports[known]():
                return None
            WORLD.case_modules.append(name)
        else:
            # The tree is loading, before any case. An import that must succeed gets a stand-in, and is forgotten
            # afterwards; with ``try`` the tree would remember for all cases whether it succeeded.
            if _may_fail(_importer(sys._getframe(1))):
                WORLD.refuse(name, "was tried for, which the case decides,")
            WORLD.case_modules.append(name)
        return importlib.machinery.ModuleSpec(name, StandInLoader(), is_package=True)

    def find_distributions(self, context=None):
        """Refuse: which versions are installed is a question about the case's machine, not about this machine."""
        name = getattr(context, "name", None)
        if name is None or name.partition(".")[0] != self._package:
            WORLD.refuse(f"importlib.metadata.version({name})", "was asked for")
        return ()

    def file_of(self, name: str) -> str | None:
        """Return the path of a module's file in the tree, None if the tree does not have it."""
        base = os.path.join(self._root, *name.split("."))
        for candidate in (f"{base}.py", os.path.join(base, "__init__.py")):
            if os.path.isfile(candidate):
                return candidate
        return None


class RealLoader(RecordingLoader):
    """Loads a whole module of the tree, outside of the current case even if that is the first to import it."""

    def exec_module(self, module):
        """Run the module without a case; otherwise it would keep what it sees of this case for all later ones."""
        module.__dict__["hasattr"] = observing_hasattr
        with WORLD.importing():
            super().exec_module(module)
            patch_real(module)
            HELD.add(module)


class StandInLoader(importlib.abc.Loader):
    """Makes a stand-in module, with ``source`` one that passes on the names of that module."""

    def __init__(self, source=None):
        self._source = source

    def create_module(self, spec):
        """Return an empty stand-in module."""
        return ReexportingModule(spec.name, self._source) if self._source else StandInModule(spec.name)

    def exec_module(self, module):
        """Do nothing: the names of a stand-in are made when they are read."""


class PartialLoader(importlib.abc.Loader):
    """Loads some top-level definitions of a file, and what they need from it; its other names are stand-ins.

    A utility module of 4,000 lines imports half the world; the few of its functions that the resolution calls do
    not need that. Each kept definition is the tree's own code, so that a change to it is seen. ``kept`` has the
    parsed definitions.
    """

    def __init__(self, file, names):
        self._file = file
        self._names = names
        self.kept = None

    def create_module(self, spec):
        """Return a stand-in that the kept definitions will fill."""
        return StandInModule(spec.name)

    def exec_module(self, module):
        """Put the module's answers into its namespace, and run the kept definitions there."""
        with open(self._file, "rb") as source:
            tree = ast.parse(source.read(), self._file)
        prefix = f"{module.__name__}."
        answered = {path[len(prefix) :]: found for path, found in ANSWERED.items() if path.startswith(prefix)}
        module.__dict__.update(answered)
        tree.body = needed(tree, self._names, answered)
        self.kept = tree
        module.__dict__.update(__file__=self._file, hasattr=observing_hasattr)
        with WORLD.importing():
            exec(compile(tree, self._file, "exec", dont_inherit=True), module.__dict__)  # noqa: S102
            HELD.add(module)


def _importer(frame):
    """Return the frame with the import statement for which the import machinery runs in ``frame``, or None."""
    while frame is not None and (
        "importlib" in frame.f_code.co_filename
        or (frame.f_globals.get("__package__") or "").partition(".")[0] == _OURS
    ):
        frame = frame.f_back
    return frame


def _may_fail(frame):
    """Return whether the import statement that ``frame`` runs is in a ``try``, so that the tree lets it fail."""
    try:
        with open(frame.f_code.co_filename, "rb") as source:
            tree = ast.parse(source.read())
    except (AttributeError, OSError, SyntaxError, ValueError):
        return False
    return any(
        isinstance(node, ast.Try) and node.body[0].lineno <= frame.f_lineno <= node.body[-1].end_lineno
        for node in ast.walk(tree)
    )
