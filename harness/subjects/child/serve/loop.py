"""The child's main loop: load the tree once, then answer the parent's requests until it closes the pipe."""

import dataclasses
import faulthandler
import gc
import importlib
import inspect
import logging
import os
import sys
import traceback
import warnings
from functools import partial

from .. import describe
from ..aims.harvest import harvest
from ..aims.values import ReadValues
from ..recording.reach import Reach
from ..recording.recorder import Recorder
from ..recording.tracing import traced
from ..tree import slicing
from ..tree.finder import TreeFinder
from ..tree.resolve import Resolver
from ..world import answers, chance, questions, sandbox
from ..world import moment as own
from ..world.caches import Caches
from ..world.current import WORLD, UnansweredProbe, observe_environment
from . import launch
from .batches import answer_all, seconds_of
from .wire import Wire, encode, frame_of, marked, own_fault

_CHILD = os.path.dirname(os.path.dirname(__file__))
# The folders of our own code that runs here.
_OURS = (_CHILD, os.path.join(os.path.dirname(os.path.dirname(_CHILD)), "source"))


def serve(request_fd, response_fd, number):
    """Serve until the request pipe closes; answers count from ``number``. The first request loads the tree."""
    faulthandler.enable()
    chance.watch()
    wire = Wire(request_fd, response_fd, number)
    subject, load_seconds = None, 60.0
    while True:
        request = wire.receive()
        if request is None:
            os._exit(0)
        operation = request["op"]
        load_seconds = request.get("load_seconds", load_seconds)
        # Should the parent be gone, nobody else ends what does not end by itself.
        sandbox.start_timer(load_seconds)
        if operation == "load":
            subject, answer = _load(request)
            wire.send(encode(answer))
        elif operation in ("resolve", "loop"):
            sandbox.stop_timer()
            if operation == "resolve":
                subject.resolve_batch(request, wire)
            else:
                wire.send(encode(subject.loop(request)))
        else:
            wire.send(_answered(subject, operation, request))
        sandbox.stop_timer()
        wire.flush()


def _answered(subject, operation, request):
    """Return the frame of an answer, or of an exception in which nothing but our own code had a part.

    One that came through the tree, or of what it made too large or too deep, ends the process like all that it does
    outside of a case.
    """
    try:
        answer = getattr(subject, operation)(request)
    except (MemoryError, RecursionError):
        raise
    except Exception as error:
        if _frame(error):
            raise
        return own_fault(error)
    return encode(answer)


class NotACallable(Exception):
    """The target is not what a subject has to be; the message says what it lacks."""


def _made(request):
    """Return the subject that is asked for."""
    if "profile" in request:
        return Subject(request)
    # It is made of what this module has.
    from ..callable.adapter import CallableSubject

    return CallableSubject(request)


def _load(request):
    """Import the tree; returns the subject and the answer, whose ``error`` says why there is none."""
    limits = sandbox.confine(request["memory_bytes"], request["root"])
    # A load makes much that lasts, as parsed files, and the collector would walk through all of it again and again.
    gc.disable()
    try:
        subject = _made(request)
        if WORLD.unanswered is not None:
            # The tree swallowed it, and went on with a value that nobody gave.
            raise WORLD.unanswered
        return subject, {"error": None, "limits": limits}
    except UnansweredProbe as error:
        return None, {"error": "unanswered", "path": error.path, "how": error.how, "frame": _frame(error)}
    except slicing.SliceError as error:
        return None, {"error": "slice", "detail": str(error)}
    except NotACallable as error:
        return None, {"error": "callable", "detail": str(error)}
    except BaseException as error:
        detail = traceback.format_exception_only(type(error), error)[-1].strip()
        return None, {"error": "import", "detail": detail, "frame": _frame(error)}
    finally:
        gc.enable()


def _frame(error):
    """Return ``file:line`` of the innermost frame that is not ours, the empty string where all are."""
    return frame_of(error, lambda file: not file.startswith((*_OURS, "<frozen")))


class Subject:
    """One loaded tree."""

    def __init__(self, request):
        profile = request["profile"]
        self._root = request["root"]
        self._profile = profile
        self._seconds = request["case_seconds"]
        logging.disable(logging.CRITICAL)
        warnings.simplefilter("ignore")
        observe_environment()
        own.hide()
        questions.annotations_outside_case()
        self._caches = Caches(profile["package"])
        answers.prepare(profile)
        names = [*profile["slice"]["fields"], *profile["slice"]["state"]]
        recorder = Recorder(self._root, names) if request["record"] else None
        self._caches.recorder = recorder
        sys.meta_path.insert(0, TreeFinder(self._root, profile, recorder))
        module, _, name = profile["record"].partition(":")
        cls = getattr(importlib.import_module(module), name)
        for real in profile["import"]:
            if sys.meta_path[0].file_of(real) is not None:
                importlib.import_module(real)
        run, self.slots, self._statements = None, [], []
        if request["slice"]:
            run, self.slots, self._statements = slicing.build(cls, profile["slice"], recorder)
        self._cls = cls
        self._parser = None
        self._reach = (
            None
            if recorder is None
            else Reach(recorder, self._starts(recorder, cls, profile["slice"]), unreachable=_unreachable(request))
        )
        self._resolver = Resolver(cls, profile, self._root, run, self._caches)
        WORLD.forget_modules()
        # The tree's own objects live as long as the process: keep them out of every later collection.
        gc.collect()
        gc.freeze()

    def describe(self, request):
        """Return the record's fields, what the resolution reads, and the values it compares with."""
        profile = self._profile
        modules = describe.modules_of(profile["package"])
        reading = ReadValues([field.name for field in dataclasses.fields(self._cls)], modules)
        if self.slots:
            reading.follow_statements(self._statements)
        else:
            reading.follow([profile["slice"]["entry"]])
        reading.follow_decorated(set(profile["slice"]["registrations"]))
        module, _, name = profile.get("environment_object", "").partition(":")
        envs = getattr(sys.modules.get(module), name, None)
        found = harvest(
            {**reading.trees, **describe.partial_trees(profile["package"])},
            () if self.slots else (profile["slice"]["entry"],),
            [field.name for field in dataclasses.fields(self._cls)],
            statements=self._statements,
            registrations=profile["slice"]["registrations"],
        )
        return {
            "fields": describe.fields_of(self._cls),
            "slots": self.slots,
            "reads": dict(sorted(reading.fields.items())),
            "environment": {
                name: {**kind, "compared": reading.environment[name]}
                for name, kind in describe.environment_kinds(envs, reading.environment).items()
            },
            "architectures": reading.architectures,
            **(self._reach.describe() if self._reach is not None else {}),
            "aims": found,
        }

    def _starts(self, recorder, cls, spec):
        """Return where the resolution starts, as ``Reach`` wants it: the entry method, then what registries call."""
        entries, own = recorder.sites.functions.get(slicing.ENTRY, []), 0
        if not self.slots:
            entries = recorder.sites.functions.get(spec["entry"], [])
            own = inspect.unwrap(getattr(cls, spec["entry"])).__code__.co_firstlineno
        body = next((node.body for node in entries if node.lineno >= own), [])
        registered = recorder.sites.decorated(set(spec["registrations"]))
        return [*slicing.labelled(body, spec["entry"]), *(("(registered)", node) for node in registered)]

    def reach(self, request):
        """Return how much of the described writers and decisions ran."""
        return {} if self._reach is None else self._reach.fresh()

    def chains(self, request):
        """Return for each case every write of a resolved field that it makes, in order."""
        return {"chains": [self._chain(facts) for facts in _facts(request)]}

    def written(self, request):
        """Return the chains of those cases of the last batch, or None (`Reach.written`)."""
        positions = request["positions"]
        return {"chains": [[] for _ in positions] if self._reach is None else self._reach.written(positions, marked)}

    def _chain(self, facts):
        return [] if self._reach is None else self._reach.chain(lambda: self._resolver.resolve(facts), marked)

    def traces(self, request):
        """Return for each case the decisions it takes and the variables it sets, in order."""
        module = sys.modules.get(self._profile.get("environment_object", "").partition(":")[0])
        runs = [partial(self._resolver.resolve, facts) for facts in _facts(request)]
        # Where a case is refused its answer says.
        return traced(self._reach, runs, self._root, getattr(module, "__file__", ""), raises=False)

    def decisions(self, request):
        """Return the decisions of the description, for whoever has not asked for all of it."""
        return {"decisions": [] if self._reach is None else self._reach.decisions()}

    def choose(self, request):
        """Fix which outcome fields are reported; the answer lists those that the tree has."""
        if self._reach is not None:
            self._reach.forget()
        return {"fields": self._resolver.choose(request["fields"])}

    def parse(self, request):
        """Return the arguments that launch flags set."""
        try:
            if self._parser is None:
                self._parser = launch.parser_of(self._cls)
            names = {field.name for field in dataclasses.fields(self._cls) if field.init}
            return {"args": launch.parse(self._parser, request["argv"], names), "error": None, "unknown": None}
        except launch.LaunchError as error:
            return {"args": None, "error": str(error), "unknown": error.unknown}

    def resolve_batch(self, request, wire):
        """Resolve the cases of a batch in order, one frame each."""
        novelty = None if self._reach is None else self._reach.novelty
        answer_all(
            _facts(request),
            self._resolver.resolve,
            self._seconds,
            wire,
            request["part"],
            novelty,
            self._caches.forget_all,
        )

    def loop(self, request):
        """Resolve the cases and do nothing else; returns the seconds it took (the floor of a benchmark)."""
        return {"seconds": seconds_of(list(_facts(request)), self._resolver.resolve)}


def _unreachable(request):
    """Return the write sites that are known to be out of reach in the mode that is asked for."""
    known = request["profile"]["slice"]["unreachable"]
    return [site for site in known if not (site.get("whole") and request["slice"])]


def _facts(request):
    """Yield the facts of each case of a batch."""
    machines, models = request["machines"], request["models"]
    for args, machine, model, env in request["cases"]:
        hardware, probes = machines[machine]
        described, checkpoint = models[model]
        yield {
            "hardware": hardware,
            "probe": probes,
            "model": described,
            "checkpoint": checkpoint,
            "args": args,
            "env": env,
        }
