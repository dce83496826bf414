"""Reads the fields of classes: dataclasses, attrs and pydantic models, typed dictionaries, named tuples.

The attrs and pydantic libraries are not imported here: their classes are recognised by their attributes.
"""

import dataclasses
import enum
import inspect
import pathlib
import sys
import typing

from ..tree.describe import SCALARS, listed, without_none

_BOUNDS = ("ge", "gt", "le", "lt")
_NO_DEFAULT = object()
# Values worth trying, because ``x or default`` and ``default if x is None else x`` differ for them.
_FALSY = {"int": [0], "float": [0.0], "str": [""]}
# The value of a required argument that a case does not set, by type.
_PLACEHOLDERS = {"bool": False, "int": 1, "float": 1.0, "str": "text", "list": [], "object": {}}


def kind_of(cls):
    """Return the kind of a class with fields (``dataclass``, ``attrs``, ``pydantic``, ...), None for any other."""
    if not inspect.isclass(cls):
        return None
    # This includes pydantic's dataclasses: they are dataclasses that check their values.
    if dataclasses.is_dataclass(cls):
        return "dataclass"
    if hasattr(cls, "__attrs_attrs__"):
        return "attrs"
    if isinstance(getattr(cls, "model_fields", None), dict) and hasattr(cls, "model_validate"):
        return "pydantic"
    if typing.is_typeddict(cls):
        return "typed dictionary"
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return "named tuple"
    return None


def names_of(cls):
    """Return the names of the fields that an instance of ``cls`` has."""
    kind = kind_of(cls)
    if kind == "dataclass":
        return [field.name for field in dataclasses.fields(cls)]
    if kind == "attrs":
        return [field.name for field in cls.__attrs_attrs__]
    if kind == "pydantic":
        return [*cls.model_fields, *getattr(cls, "model_computed_fields", ())]
    return list(cls._fields) if kind == "named tuple" else list(cls.__annotations__)


def arguments_of(cls):
    """Return one dictionary for each field that can be given, in order.

    It has the attributes of `harness.world.fields.FieldSpec`, and two more keys. ``near`` lists values worth trying
    even if the code never names them, such as the bounds that annotations and validators set. ``hint`` is the type
    as annotated.
    """
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except Exception:
        # Some annotation cannot be evaluated, for example because its name is imported for type checkers only. Then
        # no field's type is known.
        hints = {}
    found = []
    for name, called, default, extra in _given(cls):
        hint, metadata = hints.get(name, typing.Any), list(extra)
        described = describe(called, hint, metadata)
        if default is _NO_DEFAULT:
            described["required"] = True
        else:
            described["default"] = default if is_plain(default) else in_json(default)
            described["optional"] = described["optional"] or default is None
        found.append(described)
    return found


def _given(cls):
    """Yield ``(name, keyword, default, metadata)`` for each field that can be given.

    ``keyword`` is the name in a call; it differs from ``name`` for a field with an alias.
    """
    kind = kind_of(cls)
    if kind == "dataclass":
        for field in dataclasses.fields(cls):
            if field.init:
                yield field.name, field.name, _made(field.default, field.default_factory, dataclasses.MISSING), ()
    elif kind == "attrs":
        for field in cls.__attrs_attrs__:
            if field.init:
                factory = getattr(field.default, "factory", None)
                default = field.default
                if factory is not None:
                    default = None if getattr(field.default, "takes_self", False) else factory()
                elif type(default).__name__ == "_Nothing" or repr(default) == "NOTHING":
                    default = _NO_DEFAULT
                yield field.name, getattr(field, "alias", None) or field.name, default, _validators(field.validator)
    elif kind == "pydantic":
        for name, field in cls.model_fields.items():
            default = _NO_DEFAULT
            if not field.is_required():
                default = _default_of(field)
            by_name = cls.model_config.get("populate_by_name") or cls.model_config.get("validate_by_name")
            alias = getattr(field, "alias", None)
            yield name, alias if alias and not by_name else name, default, field.metadata
    else:
        required = getattr(cls, "__required_keys__", ())
        defaults = getattr(cls, "_field_defaults", {})
        for name in names_of(cls):
            silent = None if kind == "typed dictionary" and name not in required else _NO_DEFAULT
            yield name, name, defaults.get(name, silent), ()


def _default_of(field):
    factory = field.default_factory
    if factory is None:
        return field.default
    # A factory that takes the other fields as its parameter has no value without them.
    return factory() if not inspect.signature(factory).parameters else None


def _made(default, factory, missing):
    if default is not missing:
        return default
    return factory() if factory is not missing else _NO_DEFAULT


def _validators(validator):
    """Return an attrs validator and all validators inside it."""
    if validator is None:
        return []
    parts = getattr(validator, "_validators", None) or [getattr(validator, "validator", None)]
    return [validator, *(inner for part in parts if part is not None for inner in _validators(part))]


def describe(name, hint, metadata=()):
    """Return the description of the argument ``name`` from its annotation and metadata."""
    metadata = [*metadata, *getattr(hint, "__metadata__", ())]
    hint = getattr(hint, "__origin__", hint) if hasattr(hint, "__metadata__") else hint
    inner, optional = without_none(hint)
    if hasattr(inner, "__metadata__"):
        metadata += inner.__metadata__
        inner = inner.__origin__
    kind, item, choices = _kind(inner)
    for part in metadata:
        options = getattr(part, "options", None)
        if isinstance(options, (list, tuple, set, frozenset, dict)) and not choices:
            choices = listed(options)
    return {
        "name": name,
        "type": kind,
        "item": item,
        "optional": optional,
        "choices": [choice for choice in choices if is_plain(choice)],
        "default": None,
        "required": False,
        "flags": flags_of(name, kind),
        "near": _bounds(metadata) or ([] if choices else _FALSY.get(kind, [])),
        "hint": inner,
    }


def flags_of(name, kind):
    """Return the flags by which a launch line sets the argument ``name``."""
    words = name.strip("_").replace("_", "-")
    return [f"--{words}", f"--no-{words}"] if kind == "bool" else [f"--{words}"]


def _bounds(metadata):
    found = []
    for part in metadata:
        values = [getattr(part, name, None) for name in (*_BOUNDS, "bound")]
        for value in values:
            if type(value) in (int, float) and value not in found:
                found.append(value)
    return found


def _kind(hint):
    """Return the type that an annotation names, the type of its items if it is a list, and the values it lists."""
    if hint in SCALARS:
        return SCALARS[hint], None, ()
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        values = typing.get_args(hint)
        kinds = {type(value) for value in values if value is not None}
        return SCALARS.get(kinds.pop(), "object") if len(kinds) == 1 else "object", None, values
    if inspect.isclass(hint) and issubclass(hint, enum.Enum):
        values = [member.value for member in hint]
        kinds = {type(value) for value in values}
        return SCALARS.get(kinds.pop(), "object") if len(kinds) == 1 else "object", None, values
    if inspect.isclass(hint) and issubclass(hint, pathlib.PurePath):
        return "str", None, ()
    if origin in (list, tuple, set, frozenset) or hint in (list, tuple, set, frozenset):
        items = [item for item in typing.get_args(hint) if item is not ...]
        return "list", _kind(items[0])[0] if len(set(items)) == 1 else None, ()
    return "object", None, ()


def is_plain(value):
    """Return whether ``value`` has only types that JSON has, so that it is the same after a round trip."""
    if isinstance(value, list):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(type(key) is str for key in value) and all(map(is_plain, value.values()))
    return value is None or type(value) in (bool, int, float, str)


def in_json(value):
    """Return a default in JSON's types.

    A member of an enumeration becomes its value, a tuple or set a list, a path text, and anything else None.
    """
    if isinstance(value, enum.Enum):
        return value.value if is_plain(value.value) else None
    if isinstance(value, (tuple, set, frozenset)):
        items = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else list(value)
        return items if is_plain(items) else None
    return str(value) if isinstance(value, pathlib.PurePath) else None


def placeholder(argument):
    """Return the value of a required argument that a case does not set: its first choice, or a value of its type."""
    if argument["choices"]:
        return argument["choices"][0]
    return None if argument["optional"] else _PLACEHOLDERS[argument["type"]]


def converted(value, hint):
    """Return a JSON value converted to its annotated type, or unchanged if the annotation does not say how."""
    if inspect.isclass(hint) and issubclass(hint, enum.Enum):
        return next((member for member in hint if type(member.value) is type(value) and member.value == value), value)
    if inspect.isclass(hint) and issubclass(hint, pathlib.PurePath) and isinstance(value, str):
        return hint(value)
    if kind_of(hint) in ("dataclass", "attrs") and isinstance(value, dict):
        hints = {argument["name"]: argument["hint"] for argument in arguments_of(hint)}
        return hint(**{name: converted(part, hints.get(name)) for name, part in value.items()})
    origin = typing.get_origin(hint) or hint
    if origin in (tuple, set, frozenset) and isinstance(value, list):
        items = [item for item in typing.get_args(hint) if item is not ...]
        return origin(converted(part, items[0] if items else None) for part in value)
    return value


class NoFields(Exception):
    """A callable returned something without fields to compare; the message says why."""


def fields_in(value):
    """Return the fields of what a callable returned, by name. Raises NoFields."""
    if isinstance(value, dict) or (hasattr(value, "keys") and hasattr(value, "__getitem__")):
        fields = dict(value)
        strange = next((key for key in fields if type(key) is not str), None)
        if strange is not None:
            raise NoFields(f"it returned a mapping with the key {strange!r}, and names of fields are text")
        return fields
    if kind_of(type(value)) is not None:
        return {name: getattr(value, name) for name in names_of(type(value)) if hasattr(value, name)}
    if type(value).__module__ != "builtins" and hasattr(value, "__dict__") and not inspect.iscoroutine(value):
        return {name: part for name, part in vars(value).items() if not name.startswith("_")}
    raise NoFields(f"it returned {type(value).__name__}, and must return a mapping or an object with fields")


def hints_of(function):
    """Return the annotations of a function; None for those that cannot be evaluated.

    Such an annotation may name something that is imported for type checkers only.
    """
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception:
        return {
            name: hint if not isinstance(hint, str) else _looked_up(hint, function)
            for name, hint in getattr(function, "__annotations__", {}).items()
        }


def _looked_up(text, function):
    """Return what a dotted name in an annotation means in the function's module; None if it means nothing there."""
    found = sys.modules.get(function.__module__)
    for part in text.split("."):
        found = getattr(found, part, None)
    return found
