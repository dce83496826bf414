"""Stand-ins: they replace modules that the resolution does not need.

While the tree is loading, a stand-in can be imported, subclassed, or used as a decorator or in an annotation. Once
cases run, any *observation* of it (a call, a truth value, a comparison, a length, ...) either gets an answer from
the case or raises ``UnansweredProbe`` with the dotted name. A stand-in never makes up a value.
"""

import importlib
import math
import operator
import re
import sys
import types
from typing import Any

from .current import WORLD


class Subclassed:
    """The base class of a class that derives from a stand-in."""

    def __init__(self, *args, **kwargs):
        WORLD.refuse(type(self).__qualname__, "was constructed")


class Raisable(Exception):
    """The base class of stand-ins for exception classes. The code that would raise them is replaced, too."""

    def __new__(cls, *args, **kwargs):
        WORLD.refuse(cls._standin_path, "was called")


# A name like this gets a stand-in that is a class. ``except name`` with anything else would turn the exception that
# is being handled into a TypeError.
_EXCEPTION_NAME = re.compile(r"[A-Z]\w*(Error|Exception|Warning|Timeout|Interrupt|Exit)")


def _building_annotations(frame):
    """Return whether ``typing`` is the caller: it compares and hashes parts of annotations, which decides nothing."""
    return frame.f_globals.get("__name__") == "typing"


class StandIn:
    """One name inside a stand-in module, known by its dotted path."""

    def __init__(self, path):
        object.__setattr__(self, "_standin_path", path)
        object.__setattr__(self, "_standin_parts", {})

    @property
    def __class__(self):
        # ``isinstance(stand-in, C)`` reads this if the type itself is no subclass of C.
        return WORLD.refuse(self._standin_path, "was used in isinstance") if WORLD.active else type(self)

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            if WORLD.active:
                WORLD.refuse(f"{self._standin_path}.{name}", "was read")
            raise AttributeError(name)
        parts = self._standin_parts
        if name not in parts:
            parts[name] = resolve_name(f"{self._standin_path}.{name}")
        return now(parts[name])

    def __setattr__(self, name, value):
        WORLD.remember(self._standin_parts, name)
        self._standin_parts[name] = value

    def __delattr__(self, name):
        WORLD.remember(self._standin_parts, name)
        self._standin_parts.pop(name, None)

    def __call__(self, *args, **kwargs):
        if WORLD.active:
            WORLD.refuse(self._standin_path, "was called")
        return StandIn(f"{self._standin_path}()")

    def __getitem__(self, item):
        if WORLD.active:
            WORLD.refuse(self._standin_path, "was indexed")
        return self

    def __mro_entries__(self, bases):
        return (Subclassed,)

    def __or__(self, other):
        if WORLD.active:
            WORLD.refuse(self._standin_path, "was used as a number")
        return self

    __ror__ = __or__

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        if WORLD.active:
            WORLD.refuse(self._standin_path, "was used as text")
        return f"<stand-in {self._standin_path}>"

    __str__ = __repr__

    def __format__(self, spec):
        return repr(self)

    def __hash__(self):
        if WORLD.active and not _building_annotations(sys._getframe(1)):
            WORLD.refuse(self._standin_path, "was looked up in a dictionary or set")
        return object.__hash__(self)

    def __eq__(self, other):
        if self is other:
            return True
        if _building_annotations(sys._getframe(1)):
            return False
        if not WORLD.active and not isinstance(other, (str, bytes, int, float, tuple, list, dict)):
            return False
        return WORLD.refuse(self._standin_path, "was compared")


def _reflected(function):
    return lambda value, other, *rest: function(other, value, *rest)


_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "matmul", "lshift", "rshift", "and", "or", "xor")
_BINARY = {
    **{name: getattr(operator, f"__{name}__") for name in _ARITHMETIC},
    "divmod": divmod,
    "pow": pow,
}
# For each kind of observation its name in messages, the special methods that make it, and what each of them does to
# the value of an answered name.
_OBSERVATIONS = {
    "was used as a truth value": {"bool": bool},
    "was compared": {name: getattr(operator, name) for name in ("ne", "lt", "le", "gt", "ge")},
    "was used as a number": {
        "int": int,
        "float": float,
        "complex": complex,
        "index": operator.index,
        "round": round,
        "neg": operator.neg,
        "pos": operator.pos,
        "abs": abs,
        "invert": operator.invert,
        "trunc": math.trunc,
        "floor": math.floor,
        "ceil": math.ceil,
        **_BINARY,
        **{f"r{name}": _reflected(function) for name, function in _BINARY.items()},
    },
    "was used as a container": {
        "len": len,
        "iter": iter,
        "next": next,
        "reversed": reversed,
        "contains": operator.contains,
        "setitem": operator.setitem,
        "delitem": operator.delitem,
    },
    "was used as text": {"bytes": bytes, "fspath": lambda value: value.__fspath__()},
    "was entered": {
        "enter": lambda value: type(value).__enter__(value),
        "exit": lambda value, *error: type(value).__exit__(value, *error),
    },
    "was awaited": {
        name: (lambda value, *rest, _name=f"__{name}__": getattr(type(value), _name)(value, *rest))
        for name in ("await", "aiter", "anext", "aenter", "aexit")
    },
    "was used in isinstance": {"instancecheck": lambda value, other: isinstance(other, value)},
    "was used in issubclass": {"subclasscheck": lambda value, other: issubclass(other, value)},
    "was listed": {"dir": dir},
    "was pickled": {"reduce_ex": lambda value, protocol: value.__reduce_ex__(protocol)},
}


def _observing(how):
    def method(self, *args, **kwargs):
        return WORLD.refuse(self._standin_path, how)

    return method


def _add_observations(cls, but=()):
    for how, methods in _OBSERVATIONS.items():
        for name in methods:
            if f"__{name}__" not in but:
                setattr(cls, f"__{name}__", _observing(how))


_add_observations(StandIn, but=("__or__", "__ror__"))


class Deferred(StandIn):
    """An answered name that was read while the tree was loading. An observation gets the current case's value."""

    def __init__(self, path, answer):
        StandIn.__init__(self, path)
        object.__setattr__(self, "_standin_answer", answer)

    @property
    def __class__(self):
        return type(self._standin_answer()) if WORLD.active else Deferred

    def _standin_now(self):
        if not WORLD.active:
            WORLD.refuse(self._standin_path, "was observed")
        return self._standin_answer()

    def __getattr__(self, name):
        if WORLD.active:
            return getattr(self._standin_now(), name)
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Deferred(f"{self._standin_path}.{name}", lambda: getattr(self._standin_answer(), name))

    def __setattr__(self, name, value):
        setattr(self._standin_now(), name, value)

    def __delattr__(self, name):
        delattr(self._standin_now(), name)

    def __call__(self, *args, **kwargs):
        if WORLD.active:
            return self._standin_now()(*args, **kwargs)
        return Deferred(f"{self._standin_path}()", lambda: self._standin_answer()(*args, **kwargs))

    def __getitem__(self, item):
        return self._standin_now()[now(item)]

    def __eq__(self, other):
        # While the tree is loading there is no value to compare, as for any stand-in.
        return self._standin_now() == now(other) if WORLD.active else StandIn.__eq__(self, other)

    def __hash__(self):
        return hash(self._standin_now()) if WORLD.active else object.__hash__(self)

    def __repr__(self):
        return repr(self._standin_now()) if WORLD.active else StandIn.__repr__(self)

    def __str__(self):
        return str(self._standin_now()) if WORLD.active else StandIn.__repr__(self)

    def __format__(self, spec):
        return format(self._standin_now(), spec)

    def __copy__(self):
        return self._standin_now() if WORLD.active else self

    def __deepcopy__(self, memo):
        return self._standin_now() if WORLD.active else self


def _forwarding(function):
    def forward(self, *args):
        return function(self._standin_now(), *map(now, args))

    return forward


for _methods in _OBSERVATIONS.values():
    for _name, _function in _methods.items():
        setattr(Deferred, f"__{_name}__", _forwarding(_function))


def now(found: Any) -> Any:
    """Return the value that a ``Deferred`` has in the current case; anything else is returned unchanged."""
    return found._standin_now() if type(found) is Deferred and WORLD.active else found


class AnsweredCall:
    """A probe function: it returns the case's answer; called while the tree is loading, it returns a ``Deferred``.

    An answer that is the same in every case (``constant``) is returned while the tree is loading, too.
    """

    def __init__(self, path, answer, constant=False):
        self._standin_path = path
        self._answer = answer
        self._constant = constant
        self.__name__ = self.__qualname__ = path.rpartition(".")[2]
        self.__doc__ = None

    def __call__(self, *args, **kwargs):
        if WORLD.active or self._constant:
            return self._answer()
        return Deferred(f"{self._standin_path}()", self._answer)

    def __getattr__(self, name):
        if WORLD.active:
            WORLD.refuse(f"{self._standin_path}.{name}", "was read")
        raise AttributeError(name)

    def cache_clear(self):
        """Do nothing. A tree that wraps its probes in a cache may clear it, and here there is no cache."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        if self is other or other is None or not WORLD.active:
            return self is other
        return WORLD.refuse(self._standin_path, "was compared")


# The case answers only calls of a probe. Any other observation, of the function itself, has no answer.
_add_observations(AnsweredCall, but=("__dir__", "__reduce_ex__"))


class StandInModule(types.ModuleType):
    """A module in which every name is a stand-in or an answer, made when it is first read."""

    def __init__(self, name):
        super().__init__(name)
        self.__path__ = []

    @property
    def __all__(self):
        # ``import *`` reads this. It gets no names, since any name could be meant; an importer that later misses a
        # name gets a message that says why.
        importer = sys._getframe(1).f_globals.get("__name__", "")
        WORLD.starred.setdefault(importer, set()).add(self.__name__)
        return ()

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__") and name != "__version__":
            raise AttributeError(f"stand-in module {self.__name__!r} has no attribute {name!r}")
        found = resolve_name(f"{self.__name__}.{name}")
        if type(found) is Deferred:
            return now(found)
        self.__dict__[name] = found
        return found

    def __setattr__(self, name, value):
        # Special attributes are set by the import machinery. They belong to the module, which outlives the case.
        if not (name.startswith("__") and name.endswith("__")):
            WORLD.remember(self.__dict__, name)
        super().__setattr__(name, value)


class ReexportingModule(StandInModule):
    """A stand-in for a package that passes on the names of one of its modules (``from .common import *``)."""

    def __init__(self, name, source):
        super().__init__(name)
        self._source = source

    def __getattr__(self, name):
        if name.startswith("__"):
            return super().__getattr__(name)
        path = f"{self.__name__}.{name}"
        if path in ANSWERED or path in sys.modules:
            return now(resolve_name(path))
        return getattr(importlib.import_module(self._source), name)


# Filled by ``answers.prepare``: dotted path -> the object that the tree gets under it.
ANSWERED = {}


def resolve_name(path):
    """Return what a dotted name in a stand-in module means: an answer, a module already imported, or a stand-in."""
    if path in ANSWERED:
        return ANSWERED[path]
    if path in sys.modules:
        return sys.modules[path]
    name = path.rpartition(".")[2]
    if _EXCEPTION_NAME.fullmatch(name):
        return type(name, (Raisable,), {"_standin_path": path})
    return StandIn(path)
