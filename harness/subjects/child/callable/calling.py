"""Runs a user's callable: finds the modules of its tree, calls it for one case, reads what it returns."""

from __future__ import annotations

import importlib.machinery
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from ..recording.recorder import Recorder, RecordingLoader
from ..serve.values import encode, marked
from ..tree.resolve import Resolver, no_outcome
from ..world.caches import Caches
from ..world.current import WORLD, UnansweredProbe
from . import records
from .forms import Form, NotACallable

_ABSENT = {"$absent": True}


class TreeModules:
    """Makes a module of the tree win over any other of its name, except modules of the standard library."""

    def __init__(self, root: str, recorder: Recorder | None) -> None:
        self._root = root
        self._recorder = recorder

    def find_spec(self, fullname, path, target=None):
        """Return the spec of a module of the tree, None for every other module."""
        if fullname.partition(".")[0] in sys.stdlib_module_names:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, [self._root] if path is None else path)
        loader = None if spec is None else spec.loader
        if loader is None or (path is None and spec.origin is None):
            # Not found, or a folder without ``__init__``, which must not win over a real module later on the path.
            # The tree is last on the path, so that the folder is found there if there is no such module.
            return None
        if isinstance(loader, importlib.machinery.SourceFileLoader) and self.holds(loader.path):
            spec.loader = RecordingLoader(fullname, loader.path, self._recorder)
        return spec

    def holds(self, file: str) -> bool:
        """Return whether a file is in the tree, but not in a virtual environment inside the tree."""
        inside = file.removeprefix(os.path.join(self._root, ""))
        return inside != file and "site-packages" not in inside.split(os.sep)


class CallResolver(Resolver):
    """Calls the callable for one case at a time."""

    def __init__(self, form: Form, root: str, caches: Caches) -> None:
        self._form = form
        self._caches = caches
        self._root = os.path.join(root, "")
        self._places = [(self._root, ""), (os.getcwd(), "(an empty folder)")]
        # All names start with the empty text, so every variable that changes is reported.
        self._watched = (b"",)
        self._reset = []
        self._chosen = []

    def choose(self, names: Sequence[str]) -> list[str]:
        """Fix which outcome fields to report; return those of ``names`` that the outcome has."""
        known = set(self._form.names)
        self._chosen = [name for name in names if name in known]
        return self._chosen

    def silent_case(self, facts: dict[str, Any]) -> str | None:
        """Resolve the case that sets nothing; the form learns its outcome fields from the result.

        Returns None, or, if the case is refused, the refusal as text. Raises NotACallable if there is no outcome.
        """
        answer = self.resolve(facts)
        if answer.startswith(b"X"):
            raise NotACallable(f"the case that sets nothing has no outcome: {json.loads(answer[1:])[1]}")
        return ": ".join(json.loads(answer[1:].split(b"\n")[0])) if answer.startswith(b"E") else None

    def _outcome(self, args, given, data):
        """Return the answer frame of the current case.

        ``given`` has the environment before the call and ``data`` the environment as it is now.
        """
        try:
            returned = self._form.call(args, WORLD.facts)
        except (UnansweredProbe, MemoryError):
            raise
        except BaseException as error:
            return self._refused(error, given, data)
        if WORLD.unanswered is not None:
            return self._unanswered(WORLD.unanswered)
        try:
            fields = records.fields_in(returned)
            if not self._form.names:
                # This is the case that sets nothing, by which the form learns its fields.
                self._form.names = list(fields)
            strange = next((name for name in fields if name not in self._form.names), None)
            if strange is not None:
                return no_outcome(
                    "broken",
                    f"its outcome has the field {strange!r}, which that of the case that sets nothing has not: "
                    "annotate what it returns with a class that has all fields",
                )
            values = [marked(fields[name]) if name in fields else _ABSENT for name in self._chosen]
            return b"F" + encode([*values, self._changed(given, data)])
        except records.NoFields as error:
            return no_outcome("broken", str(error))
        except Exception as error:
            return no_outcome("broken", f"its outcome cannot be written as JSON: {self._message(error)}")
