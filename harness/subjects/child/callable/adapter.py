"""Somebody's own function, or class, as a subject: loaded, described, and called for each case.

The callable takes what a case sets, by its first parameter, and returns the resolved fields (docs/subjects.md has the
contract). A class with fields is one, too: to make an instance is to resolve.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.machinery
import json
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from ....source.constants import add
from ..aims.harvest import harvest
from ..recording.reach import Reach
from ..recording.recorder import Recorder, RecordingLoader
from ..serve import launch
from ..serve.adapter import Adapter, facts_of
from ..serve.operations import CaseRequest, Described, Facts, LoadCallable
from ..serve.values import encode, marked
from ..tree import slicing
from ..tree.resolve import Resolver, no_outcome
from ..world import sandbox
from ..world.caches import Caches
from ..world.current import WORLD, UnansweredProbe, observe_environment
from . import mappings, records
from .fields import CallWrites
from .forms import Form, NotACallable, found_in

_ABSENT = {"$absent": True}
_TYPES = {"int": int, "float": float, "str": str}


class TreeModules:
    """Finds the modules that lie in the tree before any others of their name, but for those of Python itself."""

    def __init__(self, root, recorder):
        self._root = root
        self._recorder = recorder

    def find_spec(self, fullname, path, target=None):
        """Return where a module of the tree is, None for every other module."""
        if fullname.partition(".")[0] in sys.stdlib_module_names:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, [self._root] if path is None else path)
        loader = None if spec is None else spec.loader
        if loader is None or (path is None and spec.origin is None):
            # A folder without modules is a package only where nothing else has the name: the path's end decides.
            return None
        if isinstance(loader, importlib.machinery.SourceFileLoader) and self.holds(loader.path):
            spec.loader = RecordingLoader(fullname, loader.path, self._recorder)
        return spec

    def holds(self, file):
        """Return whether a file is one of the tree's own, and not of a virtual environment that lies in it."""
        inside = file.removeprefix(os.path.join(self._root, ""))
        return inside != file and "site-packages" not in inside.split(os.sep)


class CallableAdapter(Adapter[Facts]):
    """One callable. Its cases are facts; of these it is given what it takes by name."""

    def __init__(self, request: LoadCallable) -> None:
        self.limits = sandbox.confine(request.memory_bytes, request.root)
        self.root = root = os.path.realpath(request.root)
        module, _, name = request.target.partition(":")
        logging.disable(logging.CRITICAL)
        warnings.simplefilter("ignore")
        observe_environment()
        self._caches = Caches(module.partition(".")[0])
        self._writes = CallWrites()
        recorder = Recorder(root, self._writes) if request.record else None
        self._caches.recorder = recorder
        self._modules = TreeModules(root, recorder)
        sys.meta_path.insert(0, self._modules)
        sys.path.append(root)
        with sandbox.libraries_loading():
            imported = importlib.import_module(module)
        self._form = Form(found_in(imported, module, name), request.domains)
        self._resolver = CallResolver(self._form, root, self._caches)
        self._form.learn(self._resolver, next(facts_of(CaseRequest(**request.silent))))
        if recorder is not None:
            self.reach = self._reach_of(recorder)
        self._parser: argparse.ArgumentParser | None = None

    def _reach_of(self, recorder: Recorder) -> Reach:
        # Every write was recorded, since the outcome's fields were not known yet; those of its fields count.
        self._writes.learn(self._form.names, {cls.__name__ for cls in self._form.classes})
        recorder.sites.counts = self._writes.counts
        starts: list[Any] = []
        for function in self._form.entries:
            code = function.__code__
            file = os.path.realpath(code.co_filename).removeprefix(os.path.join(self.root, ""))
            node = recorder.sites.function(function.__name__, file, code.co_firstlineno)
            if node is not None:
                starts += slicing.labelled(node.body, node.name)
        return Reach(recorder, starts)

    def describe(self) -> Described:
        """Return the arguments, what is read of them, and the fields that an outcome has."""
        form = self._form
        loaded = {
            name: module
            for name, module in sorted(sys.modules.items())
            if self._modules.holds(os.path.realpath(getattr(module, "__file__", None) or ""))
        }
        roots = [mappings.renamed(function.__name__) for function in form.entries]
        reading = mappings.CallableValues(form.arguments, loaded).follow(roots)
        reads = {name: [*argument["near"]] for name, argument in form.arguments.items()}
        for name, values in reading.fields.items():
            for value in values:
                add(reads[name], value)
        writers, decisions = ([], []) if self.reach is None else (self.reach.writers(), self.reach.decisions())
        return Described(
            fields=[
                {key: value for key, value in argument.items() if key not in ("near", "hint")}
                for argument in form.arguments.values()
            ],
            slots=[],
            reads=reads,
            environment=reading.variables(),
            architectures=[],
            aims=harvest(reading.trees, roots, list(form.arguments)),
            writers=writers,
            decisions=decisions,
            resolved=list(form.names),
            takes=[name for name in ("hardware", "model") if name in form.takes],
        )

    def choose(self, names: Sequence[str]) -> list[str]:
        """Fix which outcome fields ``resolve`` reports; return those that the subject has."""
        return self._resolver.choose(names)

    def resolve(self, case: Facts) -> bytes:
        """Return the case's answer frame."""
        return self._resolver.resolve(case)

    def forget(self) -> None:
        """Drop what the tree's functions remember."""
        self._caches.forget_all()

    def cases(self, request: CaseRequest[Any]) -> Iterator[Facts]:
        """Yield the facts of each case."""
        return facts_of(request)

    def parse(self, argv: Sequence[str]) -> Facts:
        """Return the arguments that launch flags set."""
        if self._parser is None:
            self._parser = _parser_of(self._form.arguments.values())
        return launch.parse(self._parser, argv, set(self._form.arguments))


class CallResolver(Resolver):
    """Calls the callable for one case at a time."""

    def __init__(self, form, root, caches):
        self._form = form
        self._caches = caches
        self._root = os.path.join(root, "")
        self._places = [(self._root, ""), (os.getcwd(), "(an empty folder)")]
        # Whatever variable changes is told.
        self._watched = (b"",)
        self._reset = []
        self._chosen = []

    def choose(self, names):
        """Say which outcome fields to report. Returns those there are."""
        known = set(self._form.names)
        self._chosen = [name for name in names if name in known]
        return self._chosen

    def silent_case(self, facts):
        """Resolve the case that sets nothing: the form learns its names from what is returned.

        Returns None, or the refusal in words. Raises NotACallable where there was no outcome.
        """
        answer = self.resolve(facts)
        if answer.startswith(b"X"):
            raise NotACallable(f"the case that sets nothing has no outcome: {json.loads(answer[1:])[1]}")
        return ": ".join(json.loads(answer[1:].split(b"\n")[0])) if answer.startswith(b"E") else None

    def _outcome(self, args, given, data):
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
            if self._form.names is None:
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


def _parser_of(arguments):
    parser = launch.strict_parser()
    for argument in arguments:
        name, kind, flags = argument["name"], argument["type"], argument["flags"]
        common = {"dest": name, "default": argparse.SUPPRESS}
        if kind == "bool":
            parser.add_argument(flags[0], action="store_true", **common)
            parser.add_argument(flags[1], action="store_false", **common)
        elif kind == "list":
            parser.add_argument(*flags, nargs="*", type=_TYPES.get(argument["item"], str), **common)
        else:
            parser.add_argument(*flags, type=_TYPES.get(kind, json.loads), **common)
    return parser
