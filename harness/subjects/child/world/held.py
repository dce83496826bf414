"""Gives the names in a tree that hold an answer the value of the current case.

A name holds an answer if the tree called a probe, or read an answered attribute, while it was loading. It then holds
a ``Deferred``, which forwards every observation to the case. But ``x is None`` and ``type(x)`` cannot be forwarded.
So at the start of each case these names get the plain values of that case.
"""

import functools
import types

from .current import WORLD, UnansweredProbe
from .standins import Deferred


class Held:
    """The places in loaded modules that hold a ``Deferred``: names, attributes, items, defaults of parameters."""

    def __init__(self):
        # (path of the answer, function that stores a value in the place)
        self._places = []
        # path -> Deferred
        self._answers = {}
        self._key = None

    def add(self, module):
        """Find the places in a module that has just been loaded."""
        classes = [value for value in list(module.__dict__.values()) if _is_class_of(value, module)]
        self._add_items(module.__dict__, module.__dict__.__setitem__)
        for cls in classes:
            self._add_items(vars(cls), functools.partial(setattr, cls))
        for value in list(module.__dict__.values()):
            if type(value) is dict:
                self._add_items(value, value.__setitem__)
            elif type(value) is list:
                self._add_items(dict(enumerate(value)), value.__setitem__)
        for function in _functions(module, classes):
            self._add_defaults(function)

    def renew(self):
        """Store the values of the current case in all places.

        Returns None if no value has changed since the case before, otherwise a key for the values: equal values have
        equal keys.
        """
        if not self._places:
            return None
        values = [_value(deferred) for deferred in self._answers.values()]
        # A value that is not plain was made for this case and equals no other, so its key is a new ``object()``.
        key = tuple((type(value), value) if _is_plain(value) else object() for value in values)
        if key == self._key:
            return None
        self._key = key
        by_path = dict(zip(self._answers, values, strict=True))
        for path, put in self._places:
            put(by_path[path])
        return key

    def _place(self, deferred, put):
        self._answers[deferred._standin_path] = deferred
        self._places.append((deferred._standin_path, put))
        self._key = None

    def _add_items(self, items, put):
        for key, value in list(items.items()):
            if type(value) is Deferred:
                self._place(value, functools.partial(put, key))

    def _add_defaults(self, function):
        positional = dict(enumerate(function.__defaults__ or ()))
        if any(type(value) is Deferred for value in positional.values()):
            # ``__defaults__`` is a tuple, so it is replaced as a whole.

            def put(key, value):
                positional[key] = value
                function.__defaults__ = tuple(positional.values())

            self._add_items(positional, put)
        if function.__kwdefaults__:
            self._add_items(function.__kwdefaults__, function.__kwdefaults__.__setitem__)


def _value(deferred):
    """Return the value in the current case; without one ``deferred`` itself, which refuses to be observed."""
    try:
        return deferred._standin_now()
    except (UnansweredProbe, LookupError):
        WORLD.unanswered = None
        return deferred


def _is_plain(value):
    return type(value) in _PLAIN or (type(value) is tuple and all(map(_is_plain, value)))


_PLAIN = frozenset((str, int, float, bool, type(None)))


def _is_class_of(value, module):
    return issubclass(type(value), type) and value.__module__ == module.__name__


def _functions(module, classes):
    holders = [module.__dict__, *map(vars, classes)]
    return [value for holder in holders for value in holder.values() if type(value) is types.FunctionType]


HELD = Held()
