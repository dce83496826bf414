"""Resolves one case: builds the argument record as the case says and reads what came out."""

import copy
import dataclasses
import os
import sys

from .answers import Described, value_getter
from .wire import encode
from .world import WORLD, UnansweredProbe

_MISSING = object()


class Resolver:
    """Runs the construction of a record, or the slice of it, one case at a time.

    ``run`` is None for the whole construction, else the function made by ``slicing.build``.
    """

    def __init__(self, cls, profile, root, run, caches):
        self._cls = cls
        self._caches = caches
        self._run = run
        self._root = root
        self._state = {name: value_getter(spec) for name, spec in profile["entry_state"].items()}
        self._presets = profile["slice"]["presets"]
        self._arguments = {name: value_getter(spec) for name, spec in profile["arguments"].items()}
        self._config = profile["config"]
        self._make_config = value_getter({"tree": self._config["factory"]})() if run else None
        self._watched = tuple(profile["watched_environment"])
        self._plain = []
        self._factories = []
        self._settable = set()
        self._readers = []
        self._reset = _environment_fields(profile)
        for field in dataclasses.fields(cls):
            self._settable.add(field.name)
            if field.default is not dataclasses.MISSING:
                self._plain.append((field.name, field.default))
            elif field.default_factory is not dataclasses.MISSING:
                self._factories.append((field.name, field.default_factory))
            else:
                self._plain.append((field.name, None))

    def choose(self, names, assigned):
        """Say which outcome fields to report; dotted names reach into objects. Returns those the tree has.

        ``assigned`` are attributes that the tree sets on the record without declaring them as fields.
        """
        known = self._settable | assigned
        self._readers = [(name, tuple(name.split("."))) for name in names if name.partition(".")[0] in known]
        return [name for name, _ in self._readers]

    def resolve(self, facts):
        """Return the encoded outcome of one case: ``F`` fields, ``E`` refusal or ``X`` no outcome.

        The bytes of two subjects are equal exactly when the outcomes are: values keep their types, and the order
        is that of ``choose``. After a refusal's first line comes what is reported but never compared.
        """
        environ = os.environ
        before = dict(environ)
        environ.update(facts["env"])
        given = dict(environ)
        WORLD.enter(facts)
        try:
            try:
                record = self._slice(facts["args"]) if self._run else self._construct(facts["args"])
            finally:
                WORLD.active = False
                after = dict(environ)
                if after != before:
                    _restore(environ, before)
                for field, default in self._reset:
                    field._set_to_none = default
                self._caches.forget_case()
        except UnansweredProbe as error:
            return _no_outcome("unanswered", f"{error.path} {error.how}")
        except MemoryError:
            return _no_outcome("memory", "the case needs more memory than it is given")
        except Exception as error:
            if WORLD.unanswered is not None:
                return _no_outcome("unanswered", f"{WORLD.unanswered.path} {WORLD.unanswered.how}")
            missing = getattr(error, "obj", None)
            if isinstance(error, AttributeError) and isinstance(missing, Described):
                return _no_outcome("unanswered", f"{missing._described_path}.{error.name} was read")
            changed = self._changed(given, after)
            return b"E%s\n%s" % (
                encode([_type_name(error), str(error)]),
                encode([self._origin(error), changed]),
            )
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return b"E%s\n%s" % (
                encode([_type_name(error), str(error)]),
                encode([self._origin(error), self._changed(given, after)]),
            )
        if WORLD.unanswered is not None:
            return _no_outcome("unanswered", f"{WORLD.unanswered.path} {WORLD.unanswered.how}")
        values = []
        for _, path in self._readers:
            value = record
            for part in path:
                value = getattr(value, part, None)
            values.append(value)
        values.append(self._changed(given, after))
        return b"F" + encode(values)

    def _construct(self, args):
        arguments = {name: get() for name, get in self._arguments.items()}
        arguments.update(copy.deepcopy(args))
        return self._cls(**arguments)

    def _slice(self, args):
        record = object.__new__(self._cls)
        state = record.__dict__
        state.update(self._plain)
        for name, factory in self._factories:
            state[name] = factory()
        state.update(self._presets)
        for name, get in self._state.items():
            state[name] = get()
        for name, value in args.items():
            state[name] = copy.deepcopy(value) if isinstance(value, (list, dict)) else value
        state[self._config["field"]] = self._make_config(self._merged(args.get(self._config["field"])))
        self._run(record)
        return record

    def _merged(self, given):
        """Return the nested configuration: the default of each phase under what the case gives."""
        default = self._config["default"]
        if not given:
            return default
        return {phase: {**default.get(phase, {}), **given.get(phase, {})} for phase in {**default, **given}}

    def _changed(self, before, after):
        if before == after:
            return {}
        return {
            name: after.get(name)
            for name in sorted(before.keys() | after.keys())
            if name.startswith(self._watched) and before.get(name) != after.get(name)
        }

    def _origin(self, error):
        """Return the innermost named function of the tree that the exception passed through."""
        origin, trace = "", error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if code.co_filename.startswith(self._root) and not code.co_name.startswith("<"):
                origin = code.co_name
            trace = trace.tb_next
        return origin


def _restore(environ, before):
    for name in [name for name in environ if name not in before]:
        del environ[name]
    for name, value in before.items():
        if environ.get(name) != value:
            environ[name] = value


def _environment_fields(profile):
    """Return the tree's environment accessors that remember more than the environment holds."""
    path = profile.get("environment_object")
    if not path:
        return []
    module, _, name = path.partition(":")
    holder = getattr(sys.modules.get(module), name, None)
    return [
        (field, field._set_to_none)
        for field in vars(type(holder)).values()
        if getattr(field, "_set_to_none", _MISSING) is not _MISSING
    ]


def _no_outcome(kind, detail):
    return b"X" + encode([kind, detail])


def _type_name(error):
    return type(error).__name__
