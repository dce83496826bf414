"""A source tree as a subject: loaded, described, and resolved case by case."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import logging
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from ..aims.harvest import harvest
from ..aims.values import ReadValues
from ..recording.reach import RecordedReach
from ..recording.recorder import Recorder
from ..serve import launch
from ..serve.operations import Described, JsonObject, LoadTree
from ..world import answers, moment, questions, sandbox
from ..world.caches import Caches
from ..world.current import WORLD, observe_environment
from . import describe, slicing
from .facts import FactsAdapter
from .finder import TreeFinder
from .resolve import Resolver


class TreeAdapter(FactsAdapter):
    """One loaded tree. Its cases are facts, from which the stand-ins answer."""

    def __init__(self, request: LoadTree) -> None:
        self.limits = sandbox.confine(request.memory_bytes, request.root)
        profile = request.profile
        self.root = request.root
        self._profile = profile
        logging.disable(logging.CRITICAL)
        warnings.simplefilter("ignore")
        observe_environment()
        moment.hide()
        questions.annotations_outside_case()
        self._caches = Caches(profile["package"])
        answers.prepare(profile)
        names = [*profile["slice"]["fields"], *profile["slice"]["state"]]
        recorder = Recorder(self.root, names) if request.record else None
        self._caches.recorder = recorder
        finder = TreeFinder(self.root, profile, recorder)
        sys.meta_path.insert(0, finder)
        module, _, name = profile["record"].partition(":")
        self._cls = getattr(importlib.import_module(module), name)
        for real in profile["import"]:
            if finder.file_of(real) is not None:
                importlib.import_module(real)
        run, self._slots, self._statements = None, list[str](), list[ast.stmt]()
        if request.slice:
            run, self._slots, self._statements = slicing.build(self._cls, profile["slice"], recorder)
        self._parser: Any = None
        if recorder is not None:
            known = profile["slice"]["unreachable"]
            out_of_reach = [site for site in known if not (site.get("whole") and request.slice)]
            self.reach = RecordedReach(recorder, self._starts(recorder), unreachable=out_of_reach)
        self._resolver = Resolver(self._cls, profile, self.root, run, self._caches)
        WORLD.forget_modules()

    def describe(self) -> Described:
        """Return the record's fields, what the resolution reads of them, and the values it compares them with."""
        profile = self._profile
        cut, names = profile["slice"], [field.name for field in dataclasses.fields(self._cls)]
        reading = ReadValues(names, describe.modules_of(profile["package"]))
        if self._slots:
            reading.follow_statements(self._statements)
        else:
            reading.follow([cut["entry"]])
        reading.follow_decorated(set(cut["registrations"]))
        module, _, name = profile.get("environment_object", "").partition(":")
        variables = getattr(sys.modules.get(module), name, None)
        found = harvest(
            {**reading.trees, **describe.partial_trees(profile["package"])},
            () if self._slots else (cut["entry"],),
            names,
            statements=self._statements,
            registrations=cut["registrations"],
        )
        writers, decisions = ([], []) if self.reach is None else (self.reach.writers(), self.reach.decisions())
        return Described(
            fields=describe.fields_of(self._cls),
            slots=self._slots,
            reads=dict(sorted(reading.fields.items())),
            environment={
                name: {**kind, "compared": reading.environment[name]}
                for name, kind in describe.environment_kinds(variables, reading.environment).items()
            },
            architectures=reading.architectures,
            aims=found,
            writers=writers,
            decisions=decisions,
        )

    def _starts(self, recorder: Recorder) -> list[tuple[str, ast.AST]]:
        """Return the slots: the statements of the entry method, then the functions that registries call."""
        cut = self._profile["slice"]
        functions = recorder.sites.functions
        entries, line = functions.get(slicing.ENTRY, []), 0
        if not self._slots:
            entries = functions.get(cut["entry"], [])
            # Several classes of the tree may have a method of this name.
            line = inspect.unwrap(getattr(self._cls, cut["entry"])).__code__.co_firstlineno
        body = next((node.body for node in entries if node.lineno >= line), [])
        registered = recorder.sites.decorated(set(cut["registrations"]))
        return [*slicing.labelled(body, cut["entry"]), *(("(registered)", node) for node in registered)]

    def accessors(self) -> str:
        """Return the file of the object through which the tree reads and sets variables; empty if it has none."""
        module = sys.modules.get(self._profile.get("environment_object", "").partition(":")[0])
        return getattr(module, "__file__", None) or ""

    def parse(self, argv: Sequence[str]) -> JsonObject:
        """Return the arguments that launch flags set."""
        if self._parser is None:
            self._parser = launch.parser_of(self._cls)
        return launch.parse(self._parser, argv, {field.name for field in dataclasses.fields(self._cls) if field.init})
