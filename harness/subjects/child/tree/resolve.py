"""Resolves one case: builds the record from the case's arguments, runs the resolution, and reads the fields."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Sequence
from typing import Any

from ..serve.values import encode, marked, without_addresses
from ..world.answers import DescribedObject, NotInTree, fresh, value_getter
from ..world.caches import Caches
from ..world.current import WORLD, UnansweredProbe
from ..world.held import HELD
from ..world.questions import unanswered_name
from ..world.standins import Deferred, StandIn, StandInModule, now
from .describe import assigned_in

_MISSING = object()
_LONGEST_MESSAGE = 10_000
_PLAIN = frozenset((str, int, bool, type(None)))


class Resolver:
    """Runs the construction of a record, or the slice, one case at a time.

    ``run`` is None for the whole construction, otherwise the function that ``slicing.build`` made.
    """

    def __init__(self, cls: Any, profile: dict[str, Any], root: str, run: Any, caches: Caches) -> None:
        self._cls = cls
        self._caches = caches
        self._run = run
        self._root = os.path.join(root, "")
        # Paths that depend on the machine, each with the text that replaces it in messages.
        self._places = [(self._root, ""), (os.getcwd(), "(an empty folder)")]
        self._state = {name: value_getter(spec) for name, spec in profile["entry_state"].items()}
        self._presets = profile["slice"]["presets"]
        self._arguments = {name: value_getter(spec) for name, spec in profile["arguments"].items()}
        self._config = profile["config"]
        self._make_config = value_getter({"tree": self._config["factory"]})() if run else None
        self._watched = tuple(map(os.fsencode, profile["watched_environment"]))
        # What the slice sets before the case's arguments: defaults, and what the factories of defaults make.
        self._plain = []
        self._factories = []
        self._settable = set()
        self._readers = []
        self._reset = _environment_fields(profile)
        for field in dataclasses.fields(cls):
            self._settable.add(field.name)
            if field.default is not dataclasses.MISSING:
                if type(field.default) is Deferred:
                    self._factories.append((field.name, field.default._standin_now))
                else:
                    self._plain.append((field.name, field.default))
            elif field.default_factory is not dataclasses.MISSING:
                self._factories.append((field.name, field.default_factory))
            else:
                self._plain.append((field.name, None))

    def choose(self, names: Sequence[str]) -> list[str]:
        """Fix which outcome fields to report; return those that the tree has. Dotted names reach into objects."""
        owners = {name: name.partition(".")[0] for name in names}
        undeclared = set(owners.values()) - self._settable
        known = self._settable | (assigned_in(self._cls, undeclared) if undeclared else set())
        self._readers = [(name, tuple(name.split("."))) for name in names if owners[name] in known]
        return [name for name, _ in self._readers]

    def resolve(self, facts: dict[str, Any]) -> bytes:
        """Return the encoded outcome of one case: ``F`` fields, ``E`` refusal or ``X`` no outcome.

        The bytes of two subjects are equal exactly if the outcomes are equal: values keep their types, and the fields
        are in the order of `choose`. A refusal has three lines. Only the first is compared; it has type and message.
        The second has the function that raised and the changes to the environment, the third has the place.
        """
        environ = os.environ = WORLD.environ
        # The dictionary of bytes inside ``os.environ``. Decoding all variables would take longer than many a case.
        data = environ._data
        before = data.copy()
        written = WORLD.written
        try:
            try:
                for name, value in facts["env"].items():
                    environ[name] = value
            except (ValueError, TypeError) as error:
                return no_outcome("broken", f"the case's environment cannot be set: {error}")
            given = data.copy()
            written = WORLD.written
            WORLD.enter(facts)
            values = HELD.renew()
            if values is not None:
                self._caches.switch(values)
            return self._outcome(facts["args"], given, data)
        except UnansweredProbe as error:
            return self._unanswered(error)
        except MemoryError:
            return no_outcome("memory", "the case needs more memory than it is given")
        finally:
            WORLD.leave()
            if data != before:
                _restore(environ, before)
            if WORLD.written != written:
                for field, default in self._reset:
                    field._set_to_none = default
            self._caches.forget_case()

    def _outcome(self, args, given, data):
        """Return the answer frame of the current case.

        ``given`` has the environment before the resolution and ``data`` the environment as it is now.
        """
        try:
            record = self._slice(args) if self._run else self._construct(args)
            values = self._read(record)
        except (UnansweredProbe, MemoryError):
            raise
        except NotInTree as error:
            return no_outcome("unanswered", f"{error} is not in the tree, which an answer names, and was read")
        except BaseException as error:
            return self._refused(error, given, data)
        if WORLD.unanswered is not None:
            return self._unanswered(WORLD.unanswered)
        try:
            values = [value if type(value) in _PLAIN else marked(value) for value in values]
            values.append(self._changed(given, data))
            return b"F" + encode(values)
        except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            return no_outcome("broken", f"a field cannot be written as JSON: {error}")

    def _read(self, record):
        values = []
        for name, path in self._readers:
            value = record
            for part in path:
                value = getattr(value, part, None)
            if type(value) not in _PLAIN:
                value = now(value)
                if issubclass(type(value), StandIn):
                    WORLD.refuse(value._standin_path, f"was left in {name}")
            values.append(value)
        return values

    def _unanswered(self, error):
        place = self._raised(error)
        origin = "" if place is None else place["source"]
        return no_outcome("unanswered", f"{error.path} {error.how}" + (f" (in {origin})" if origin else ""))

    def _refused(self, error, given, data):
        """Return the frame of a refusal; or of no outcome, if the exception shows that an answer is missing."""
        missing = getattr(error, "obj", None)
        if WORLD.unanswered is not None:
            return self._unanswered(WORLD.unanswered)
        if isinstance(error, AttributeError) and type(missing) is DescribedObject:
            return no_outcome("unanswered", f"{missing._described_path}.{error.name} was read")
        about = unanswered_name(error) or _undefined_name(error)
        if about is not None:
            return no_outcome("unanswered", about)
        refusal = encode([type(error).__name__, self._message(error)])
        place = self._raised(error)
        origin = "" if place is None else place["source"]
        return b"E%s\n%s\n%s" % (refusal, encode([origin, self._changed(given, data)]), encode(place))

    def _message(self, error):
        """Return the exception's text without addresses in memory, and without the paths of this machine."""
        try:
            text = str(error)
        except Exception as broken:
            text = f"(its text cannot be made: {type(broken).__name__})"
        # A bucket keeps the message and a report shows it, so its length is bounded.
        text = text[:_LONGEST_MESSAGE]
        for place, name in self._places:
            if place in text:
                text = text.replace(place, name)
        return without_addresses(text)

    def _construct(self, args):
        arguments = {name: get() for name, get in self._arguments.items()}
        arguments.update(fresh(args))
        return self._cls(**arguments)

    def _slice(self, args):
        # Made without ``__init__``, which would run the whole resolution.
        record = object.__new__(self._cls)
        state = record.__dict__
        state.update(self._plain)
        for name, factory in self._factories:
            state[name] = factory()
        state.update(self._presets)
        for name, get in self._state.items():
            state[name] = get()
        for name, value in args.items():
            state[name] = fresh(value)
        state[self._config["field"]] = self._make_config(self._merged(args.get(self._config["field"])))
        self._run(record)
        return record

    def _merged(self, given):
        """Return the nested configuration: for each phase its defaults, overridden by what the case gives.

        A value of another shape is returned as given: the tree has to deal with it.
        """
        default = self._config["default"]
        if not given:
            return fresh(default)
        if not isinstance(given, dict) or not all(isinstance(part, dict) for part in given.values()):
            return fresh(given)
        return {phase: {**default.get(phase, {}), **given.get(phase, {})} for phase in {**default, **given}}

    def _changed(self, before, after):
        """Return the watched variables that differ, each with its new value; None for one that was removed."""
        if before == after:
            return {}
        return {
            os.fsdecode(name): os.fsdecode(after[name]) if name in after else None
            for name in sorted(before.keys() | after.keys())
            if name.startswith(self._watched) and before.get(name) != after.get(name)
        }

    def _raised(self, error):
        """Return the place in the tree's innermost named function that the exception passed through, or None."""
        found, trace = None, error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if code.co_filename.startswith(self._root) and not code.co_name.startswith("<"):
                found = trace
            trace = trace.tb_next
        if found is None:
            return None
        code = found.tb_frame.f_code
        file = code.co_filename.removeprefix(self._root)
        return {"source": code.co_name, "file": file, "line": found.tb_lineno}


def _restore(environ, before):
    """Make the environment equal to ``before`` again, by setting and removing only the variables that changed."""
    data = environ._data
    for name in [name for name in data if name not in before]:
        del environ[os.fsdecode(name)]
    for name, value in before.items():
        if data.get(name) != value:
            environ[os.fsdecode(name)] = os.fsdecode(value)


def _environment_fields(profile):
    """Return the tree's accessors of variables that remember whether they were set to None, each with that flag.

    The environment does not hold this flag, so it has to be reset on its own.
    """
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


def no_outcome(kind: str, detail: str) -> bytes:
    """Return the answer frame of a case without an outcome: the kind of failure, and the reason in words."""
    return b"X" + encode([kind, detail])


def _undefined_name(error):
    """Return the name that a NameError misses if a stand-in is the reason that it is undefined, else None.

    That is so inside a module that is itself a stand-in in part, and after ``import *`` from a stand-in.
    """
    if type(error) is not NameError or error.__traceback__ is None:
        return None
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    module = trace.tb_frame.f_globals.get("__name__", "")
    if isinstance(sys.modules.get(module), StandInModule):
        return f"{module}.{error.name} was read"
    if module in WORLD.starred:
        return f"{sorted(WORLD.starred[module])[0]}.{error.name} was read (through 'import *')"
    return None
