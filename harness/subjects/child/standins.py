"""Stand-ins: what replaces a module that the resolution does not need.

A stand-in can be imported, subclassed, used as a decorator or in an annotation while the tree is loading. Once
cases run, whatever *observes* it (a call, a truth value, a comparison, a length, ...) either has an answer from
the case or raises ``UnansweredProbe`` with the dotted name: it never makes up a value.
"""

import importlib
import sys
import types

from .world import WORLD


class _Subclassed:
    """The base that a class gets when it derives from a stand-in."""

    def __init__(self, *args, **kwargs):
        WORLD.refuse(type(self).__qualname__, "was constructed")


class StandIn:
    """One name inside a stand-in module, known by its dotted path."""

    def __init__(self, path):
        object.__setattr__(self, "_standin_path", path)
        object.__setattr__(self, "_standin_parts", {})

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        parts = self._standin_parts
        if name not in parts:
            parts[name] = resolve_name(f"{self._standin_path}.{name}")
        part = parts[name]
        return part._standin_now() if isinstance(part, Deferred) and WORLD.active else part

    def __setattr__(self, name, value):
        self._standin_parts[name] = value

    def __call__(self, *args, **kwargs):
        if WORLD.active:
            WORLD.refuse(self._standin_path, "was called")
        return StandIn(f"{self._standin_path}()")

    def __getitem__(self, item):
        if WORLD.active:
            WORLD.refuse(self._standin_path, "was indexed")
        return self

    def __mro_entries__(self, bases):
        return (_Subclassed,)

    def __or__(self, other):
        return self

    __ror__ = __or__

    def __repr__(self):
        return f"<stand-in {self._standin_path}>"

    __hash__ = object.__hash__

    def __eq__(self, other):
        if self is other:
            return True
        # ``typing`` compares what it is given with its own special forms while annotations are being built.
        if not WORLD.active and not isinstance(other, (str, bytes, int, float, tuple, list, dict)):
            return False
        return WORLD.refuse(self._standin_path, "was compared")


def _observing(how):
    def method(self, *args, **kwargs):
        return WORLD.refuse(self._standin_path, how)

    return method


_OBSERVATIONS = {
    "was used as a truth value": ("__bool__",),
    "was compared": ("__ne__", "__lt__", "__le__", "__gt__", "__ge__"),
    "was used as a number": (
        *("__int__", "__index__", "__float__", "__add__", "__radd__", "__sub__", "__rsub__", "__mul__"),
        *("__rmul__", "__truediv__", "__rtruediv__", "__floordiv__", "__rfloordiv__", "__mod__", "__and__"),
    ),
    "was used as a container": ("__len__", "__iter__", "__contains__", "__setitem__", "__delitem__"),
    "was entered": ("__enter__", "__exit__"),
    "was used in isinstance": ("__instancecheck__",),
    "was used in issubclass": ("__subclasscheck__",),
}
for _how, _methods in _OBSERVATIONS.items():
    for _method in _methods:
        setattr(StandIn, _method, _observing(_how))


class Deferred(StandIn):
    """An answered name that was read while the tree was loading: it asks the case each time it is observed."""

    def __init__(self, path, answer):
        super().__init__(path)
        object.__setattr__(self, "_standin_answer", answer)

    def _standin_now(self):
        if not WORLD.active:
            WORLD.refuse(self._standin_path, "was observed while the tree was being imported")
        return self._standin_answer()

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return getattr(self._standin_now(), name)

    def __call__(self, *args, **kwargs):
        return self._standin_now()(*args, **kwargs)

    def __hash__(self):
        return hash(self._standin_now())

    def __repr__(self):
        return repr(self._standin_now()) if WORLD.active else super().__repr__()


def _forwarding(method):
    def forward(self, *args):
        value = self._standin_now()
        if method == "__bool__":
            return bool(value)
        return getattr(value, method)(*args)

    return forward


for _methods in _OBSERVATIONS.values():
    for _method in _methods:
        setattr(Deferred, _method, _forwarding(_method))
for _method in ("__eq__", "__getitem__"):
    setattr(Deferred, _method, _forwarding(_method))


class AnsweredCall:
    """A probe function: called during a case it returns the case's answer, before one a ``Deferred``."""

    def __init__(self, path, answer):
        self._path = path
        self._answer = answer
        self.__name__ = self.__qualname__ = path.rpartition(".")[2]
        self.__doc__ = None

    def __call__(self, *args, **kwargs):
        if WORLD.active:
            return self._answer()
        return Deferred(f"{self._path}()", self._answer)

    def cache_clear(self):
        """Probes are often wrapped in a cache by the tree; clearing it changes nothing here."""


class StandInModule(types.ModuleType):
    """A module whose every name is a stand-in or an answer; names are made when they are first read."""

    __all__ = ()

    def __init__(self, name):
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__") and name != "__version__":
            raise AttributeError(f"stand-in module {self.__name__!r} has no attribute {name!r}")
        found = resolve_name(f"{self.__name__}.{name}")
        if isinstance(found, Deferred):
            return found._standin_now() if WORLD.active else found
        setattr(self, name, found)
        return found


class ReexportingModule(StandInModule):
    """A stand-in for a package that hands on the names of one of its modules (``from .common import *``)."""

    def __init__(self, name, source):
        super().__init__(name)
        self._source = source

    def __getattr__(self, name):
        if name.startswith("__"):
            return super().__getattr__(name)
        path = f"{self.__name__}.{name}"
        if path in sys.modules:
            return sys.modules[path]
        return getattr(importlib.import_module(self._source), name)


# Filled by ``answers.prepare``: dotted path -> object to hand out.
ANSWERED = {}


def resolve_name(path):
    """Return what a dotted name inside the stand-ins is: an answer, an already imported module, or a stand-in."""
    if path in ANSWERED:
        return ANSWERED[path]
    return sys.modules.get(path) or StandIn(path)
