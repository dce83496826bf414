"""Turns the answers of a profile (plain data) into the objects that the tree gets under their names."""

from __future__ import annotations

import importlib
from typing import Any

from . import standins
from .current import WORLD


def fresh(value: Any) -> Any:
    """Return a copy of plain data, so that what one case does to it does not reach the next.

    The items of a list are copied only if the first one is a list or dictionary: all items are of one kind.
    """
    if type(value) is list:
        return [fresh(item) for item in value] if value and type(value[0]) in (list, dict) else value[:]
    if type(value) is dict:
        return {key: fresh(item) for key, item in value.items()}
    return value


def _constant(value):
    return (lambda: fresh(value)) if isinstance(value, (list, dict)) else lambda: value


def _fact(path, as_tuple):
    section, _, key = path.partition(".")

    def get():
        WORLD.observed += 1
        found = WORLD.facts[section][key]
        if type(found) in (list, dict):
            return tuple(found) if as_tuple else fresh(found)
        return found

    return get


class NotInTree(LookupError):
    """This tree does not have the object that an answer names; the profile serves several releases."""


def _tree_object(path):
    module, _, name = path.partition(":")

    def get():
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name == module or module.startswith(f"{error.name}."):
                raise NotInTree(path) from None
            raise
        for part in name.split("."):
            try:
                found = getattr(found, part)
            except AttributeError:
                raise NotInTree(path) from None
        return found

    return get


class DescribedObject:
    """A configuration object with the attributes that the case describes, and no others."""

    def __init__(self, path, attributes):
        self.__dict__.update(attributes)
        self.__dict__["_described_path"] = path

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self is other or (other is not None and self._refuse("was compared"))

    def __repr__(self):
        return self._refuse("was used as text")

    def __getitem__(self, key):
        return self._refuse("was indexed")

    def __call__(self, *args, **kwargs):
        return self._refuse("was called")

    def __iter__(self):
        return self._refuse("was used as a container")

    __len__ = __contains__ = lambda self, *args: self._refuse("was used as a container")

    def __bool__(self):
        # Without this method Python would use the length, which is refused.
        return True

    def _refuse(self, how):
        return WORLD.refuse(self.__dict__["_described_path"], how)


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
        return DescribedObject(path, made)

    return get


def _chosen(path, options, name):
    fact = _fact(path, False)
    getters = {key: value_getter(spec, name) for key, spec in options.items()}

    def get():
        found = fact()
        key = str(found).lower() if isinstance(found, bool) or found is None else str(found)
        if key not in getters:
            WORLD.refuse(name, f"was observed where {path} is {key!r}, which its answer's 'of' leaves out")
        return getters[key]()

    return get


def value_getter(spec: dict[str, Any], path: str = "answer") -> Any:
    """Return a function without arguments that returns the answer of the current case as ``spec`` describes it.

    ``spec`` is plain data with one of these keys. Some contain further specs.

    - ``value``: a constant. With ``tuple`` it is a tuple.
    - ``none``: None.
    - ``from``: a dotted path into the case, such as ``hardware.capability``. With ``tuple`` it is a tuple.
    - ``case``: a path, too. ``of`` has a spec for each value that may be found there.
    - ``object``: a configuration object, with a spec for each attribute. With ``absent_if_none`` in such a spec the
      attribute is absent if its value is None.
    - ``tree``: ``module:name``, an object of the tree.
    - ``function``: what a function of the tree, named in the same way, returns for the facts at the paths in
      ``arguments``.
    - ``all``: True if each of a list of specs gives a true value.
    - ``call``: a function that ignores its arguments and returns what a spec gives.
    - ``per_rank``: a function of the number of ranks that returns the fact at a path divided by it, at least 1.

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
        getters = [value_getter(part, path) for part in spec["all"]]
        return lambda: all(get() for get in getters)
    if "case" in spec:
        return _chosen(spec["case"], spec["of"], path)
    if "call" in spec:
        inner = value_getter(spec["call"], f"{path}()")
        return lambda: lambda *args, **kwargs: inner()
    if "per_rank" in spec:
        total = _fact(spec["per_rank"], False)
        return lambda: _per_rank(total())
    raise ValueError(f"an answer has none of the known keys: {spec!r}")


def _per_rank(total):
    def per_rank(*args, **kwargs):
        (ranks,) = (*args, *kwargs.values())
        return max(1, total // ranks)

    return per_rank


def prepare(profile: dict[str, Any]) -> None:
    """Register every answer of ``profile``, so that the tree gets it from the stand-ins."""
    for spec in profile["answers"]:
        path, get = spec["name"], value_getter(spec, spec["name"])
        constant = bool({"value", "none"} & spec.keys())
        if not spec.get("attribute"):
            standins.ANSWERED[path] = standins.AnsweredCall(path, get, constant)
        elif constant and not isinstance(get(), (list, dict)):
            standins.ANSWERED[path] = get()
        else:
            standins.ANSWERED[path] = standins.Deferred(path, get)


def patch_real(module: Any) -> None:
    """Put the answers for names in ``module``, which was just loaded for real, in the place of its own objects.

    The answer for ``package.module.Class.method`` replaces that method. A name that the module does not have is
    skipped, since one profile serves several releases.
    """
    prefix = f"{module.__name__}."
    for path, found in standins.ANSWERED.items():
        if not path.startswith(prefix):
            continue
        *owners, name = path[len(prefix) :].split(".")
        owner = module
        for part in owners:
            owner = getattr(owner, "__dict__", {}).get(part)
        if name in getattr(owner, "__dict__", {}):
            setattr(owner, name, found)
