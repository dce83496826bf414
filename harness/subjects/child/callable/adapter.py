"""A user's function or class as a subject: loaded, described, and called for each case.

A function gets the case's arguments as its first parameter, and returns the resolved fields (docs/subjects.md has the
contract). A class with fields is called in the same way: making an instance is the resolution.
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
from collections.abc import Iterable, Sequence
from typing import Any

from ....source.constants import add
from ..aims.harvest import harvest
from ..recording.reach import RecordedReach
from ..recording.recorder import Recorder
from ..serve import launch
from ..serve.operations import CaseRequest, Described, JsonObject, LoadCallable
from ..tree import slicing
from ..tree.facts import FactsAdapter, facts_of
from ..world import sandbox
from ..world.caches import Caches
from ..world.current import observe_environment
from . import mappings
from .calling import CallResolver, TreeModules
from .fields import CallWrites
from .forms import Form, found_in

_TYPES = {"int": int, "float": float, "str": str}


class CallableAdapter(FactsAdapter):
    """One callable. Its cases are facts; it gets the arguments, and those facts that its parameters name."""

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

    def _reach_of(self, recorder: Recorder) -> RecordedReach:
        # While the modules were imported, the outcome's fields were not known, so every write was recorded. From here
        # on only writes of these fields count.
        self._writes.learn(self._form.names, {cls.__name__ for cls in self._form.classes})
        recorder.sites.counts = self._writes.counts
        starts: list[Any] = []
        for function in self._form.entries:
            code = function.__code__
            file = os.path.realpath(code.co_filename).removeprefix(os.path.join(self.root, ""))
            node = recorder.sites.function(function.__name__, file, code.co_firstlineno)
            if node is not None:
                starts += slicing.labelled(node.body, node.name)
        return RecordedReach(recorder, starts)

    def describe(self) -> Described:
        """Return the arguments, the values that the source compares them with, and the fields that an outcome has."""
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

    def parse(self, argv: Sequence[str]) -> JsonObject:
        """Return the arguments that launch flags set."""
        if self._parser is None:
            self._parser = _parser_of(self._form.arguments.values())
        return launch.parse(self._parser, argv, set(self._form.arguments))


def _parser_of(arguments: Iterable[JsonObject]) -> argparse.ArgumentParser:
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
