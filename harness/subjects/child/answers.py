"""Turns the answers of a profile (plain data) into the objects that the tree finds under their names."""

import importlib
import sys

from . import standins
from .world import WORLD


def _constant(value):
    return lambda: value


def _fact(path, as_tuple):
    section, _, key = path.partition(".")

    def get():
        WORLD.observed += 1
        found = WORLD.facts[section][key]
        return tuple(found) if as_tuple else found

    return get


class NotInTree(LookupError):
    """A profile serves several releases; this one does not have the object that an answer names."""


def _tree_object(path):
    module, _, name = path.partition(":")

    def get():
        found = importlib.import_module(module)
        for part in name.split("."):
            try:
                found = getattr(found, part)
            except AttributeError:
                raise NotInTree(path) from None
        return found

    return get


class Described:
    """A configuration object made from the case; what the case does not describe is absent from it."""

    def __init__(self, path, attributes):
        self.__dict__.update(attributes)
        self.__dict__["_described_path"] = path


def _described(path, attributes):
    getters = {name: value_getter(spec, f"{path}.{name}") for name, spec in attributes.items()}
    optional = {name for name, spec in attributes.items() if spec.get("absent_if_none")}

    def get():
        made = {}
        for name, value in list(getters.items()):
            try:
                found = value()
            except NotInTree:
                del getters[name]
                continue
            if found is not None or name not in optional:
                made[name] = found
        return Described(path, made)

    return get


def _chosen(path, options):
    fact = _fact(path, False)
    getters = {key: value_getter(spec) for key, spec in options.items()}

    def get():
        found = fact()
        key = str(found).lower() if isinstance(found, bool) or found is None else str(found)
        return getters[key]()

    return get


def value_getter(spec, path="answer"):
    """Return a function without arguments that gives the answer ``spec`` describes for the current case.

    ``spec`` is plain data with one of these keys:

    - ``value``: a constant (a tuple with ``tuple``); ``none``: None;
    - ``from``: a dotted path into the case, such as ``hardware.capability`` (a tuple with ``tuple``);
    - ``case`` and ``of``: a path, and one further spec for each value found there;
    - ``object``: a configuration object with a spec an attribute (``absent_if_none`` leaves one out);
    - ``tree``: ``module:name``, an object of the tree; ``function``: the same, called with ``arguments``;
    - ``all``: a list of further specs: whether each gives a true value;
    - ``call``: a function that ignores its arguments and returns what a further spec gives;
    - ``per_rank``: a function of the number of ranks: the fact divided by it, at least 1.

    Raises ValueError for anything else.
    """
    if spec.get("none"):
        return _constant(None)
    if "value" in spec:
        value = spec["value"]
        return _constant(tuple(value) if spec.get("tuple") else value)
    if "from" in spec:
        return _fact(spec["from"], spec.get("tuple", False))
    if "object" in spec:
        return _described(path, spec["object"])
    if "tree" in spec:
        return _tree_object(spec["tree"])
    if "function" in spec:
        function, arguments = (
            _tree_object(spec["function"]),
            [_fact(fact, False) for fact in spec["arguments"]],
        )
        return lambda: function()(*(argument() for argument in arguments))
    if "all" in spec:
        getters = [value_getter(part) for part in spec["all"]]
        return lambda: all(get() for get in getters)
    if "case" in spec:
        return _chosen(spec["case"], spec["of"])
    if "call" in spec:
        inner = value_getter(spec["call"])
        return lambda: lambda *args, **kwargs: inner()
    if "per_rank" in spec:
        total = _fact(spec["per_rank"], False)
        return lambda: _per_rank(total())
    raise ValueError(f"an answer has none of the known keys: {spec!r}")


def _per_rank(total):
    return lambda ranks: max(1, total // ranks)


def prepare(profile):
    """Register every answer of ``profile`` so that the stand-ins hand it out."""
    for spec in profile["answers"]:
        path, get = spec["name"], value_getter(spec, spec["name"])
        if spec.get("attribute"):
            standins.ANSWERED[path] = standins.Deferred(path, get)
        else:
            standins.ANSWERED[path] = standins.AnsweredCall(path, get)


def patch_real(profile):
    """Put the answers that belong into modules loaded for real where the tree looks for them.

    A name such as ``package.module.Class.method`` replaces that attribute; a name that the tree does not have is
    left alone, since one profile serves several releases.
    """
    for spec in profile["answers"]:
        path = spec["name"]
        owner, name = _owner_in_tree(path)
        if owner is not None and hasattr(owner, name):
            setattr(owner, name, standins.ANSWERED[path])


def _owner_in_tree(path):
    parts = path.split(".")
    for split in range(len(parts) - 1, 0, -1):
        module = sys.modules.get(".".join(parts[:split]))
        if module is None:
            continue
        if isinstance(module, standins.StandInModule):
            return None, ""
        owner = module
        for part in parts[split:-1]:
            owner = getattr(owner, part, None)
            if owner is None:
                return None, ""
        return owner, parts[-1]
    return None, ""
