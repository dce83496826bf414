"""Describes a loaded tree from its own objects: the fields of its record, their flags, its environment variables."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import sys
import types
import typing
from collections.abc import Collection, Iterable
from typing import Any

from ....source.constants import is_plain
from ..serve.launch import parser_of
from ..world.standins import StandInModule

SCALARS = {bool: "bool", int: "int", float: "float", str: "str"}


def fields_of(cls: Any) -> list[dict[str, Any]]:
    """Return one dictionary for each field of the dataclass ``cls``, in order."""
    hints = typing.get_type_hints(cls, include_extras=True)
    flags = flags_of(cls)
    described = []
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        hint, metadata = _unwrap(hints.get(field.name, str))
        inner, optional = without_none(hint)
        kind, item, literals = _kind(inner)
        choices = next((m.choices for m in metadata if getattr(m, "choices", None)), None) or literals
        default, required = _default(field)
        described.append(
            {
                "name": field.name,
                "type": kind,
                "item": item,
                "optional": optional,
                "choices": [choice for choice in listed(choices) if _is_data(choice)],
                "default": default if _is_data(default) else None,
                "required": required,
                "flags": flags.get(field.name, []),
            }
        )
    return described


def _unwrap(hint):
    metadata = getattr(hint, "__metadata__", ())
    return (hint.__origin__ if metadata else hint), metadata


def without_none(hint: Any) -> tuple[Any, bool]:
    """Return an annotation without its ``None``, and whether it had one."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        parts = [part for part in typing.get_args(hint) if part is not type(None)]
        optional = len(parts) < len(typing.get_args(hint))
        return (parts[0] if len(parts) == 1 else typing.Union[tuple(parts)]), optional  # noqa: UP007
    return hint, False


def _kind(hint):
    if hint in SCALARS:
        return SCALARS[hint], None, ()
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        values = typing.get_args(hint)
        return SCALARS.get(type(values[0]), "object"), None, values
    if origin is list:
        (item,) = typing.get_args(hint) or (str,)
        return "list", _kind(item)[0], ()
    return "object", None, ()


def listed(choices: Iterable[Any] | None) -> list[Any]:
    """Return choices as a list: a set is sorted by the text of its items, and None is empty."""
    if choices is None:
        return []
    return sorted(choices, key=str) if isinstance(choices, (set, frozenset)) else list(choices)


def _is_data(value):
    """Return whether a value is plain, or a list or tuple of such values."""
    return all(map(_is_data, value)) if isinstance(value, (list, tuple)) else is_plain(value)


def _default(field):
    if field.default is not dataclasses.MISSING:
        return field.default, False
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory(), False
    return None, True


def flags_of(cls: Any) -> dict[str, list[str]]:
    """Return the command-line flags of each field, from the tree's own argument parser."""
    flags = {}
    for action in parser_of(cls)._actions:
        flags.setdefault(action.dest, []).extend(action.option_strings)
    return flags


def assigned_in(cls: Any, names: Iterable[str]) -> set[str]:
    """Return those of ``names`` that the module of ``cls`` assigns or declares on an instance.

    The text is searched and not parsed: every new process does this, and parsing takes longer than a hundred cases.
    """
    with open(inspect.getfile(cls), encoding="utf-8") as source:
        text = source.read()
    forms = r"\bself\.{0}\b[^=\n]*=[^=]|\bdeclare\([^()]*\b{0}=[^=]"
    return {name for name in names if re.search(forms.format(re.escape(name)), text)}


def modules_of(package: str) -> dict[str, types.ModuleType]:
    """Return the modules of ``package`` that were loaded for real, by name."""
    return {
        name: module
        for name, module in sorted(sys.modules.items())
        if name.partition(".")[0] == package and not isinstance(module, StandInModule)
    }


def partial_trees(package: str) -> dict[str, ast.Module]:
    """Return the modules of ``package`` that were loaded in part, by name: the parsed definitions that were kept."""
    found = {}
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] == package:
            tree = getattr(getattr(vars(module).get("__spec__"), "loader", None), "kept", None)
            if tree is not None:
                found[name] = tree
    return found


def environment_kinds(envs: Any, names: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return the type (``bool``, ``int``, ``float``, ``str``) and the default of each variable in ``names``.

    ``envs`` is the tree's object with an accessor for each variable; a variable without one is text.
    """
    kinds = {}
    for name in sorted(names):
        field = vars(type(envs)).get(name) if envs is not None else None
        if field is None:
            kinds[name] = {"type": "str", "default": None}
            continue
        families = {base.__name__ for base in type(field).__mro__}
        kind = next((kind for kind in ("bool", "int", "float") if f"Env{kind.capitalize()}" in families), "str")
        default = getattr(field, "default", None)
        kinds[name] = {"type": kind, "default": default if _is_data(default) else None}
    return kinds
