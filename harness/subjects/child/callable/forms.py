"""How a user's function or class is called: what it takes, and the fields of what it returns."""

from __future__ import annotations

import difflib
import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any

from ..serve.adapter import NotASubject
from . import records

WORLD_PARAMETERS = ("env", "hardware", "model")
_KNOWN_TYPES = {bool: "bool", int: "int", float: "float", str: "str", list: "list"}
# The methods that run when an instance is made, by name; and by their decorator the validators and the methods that
# give a field its value, which run then too.
_MAKING = ("__init__", "__new__", "__post_init__", "__attrs_post_init__", "__attrs_pre_init__", "model_post_init")
_DECORATORS = ("field_validator", "model_validator", "validator", "root_validator", "default", "computed_field")


class NotACallable(NotASubject):
    """The target cannot be a subject; the message says what it lacks."""

    kind = "callable"


def found_in(module: Any, path: str, name: str) -> Callable[..., Any]:
    """Return the callable that a dotted name leads to."""
    found = module
    for part in name.split("."):
        if not hasattr(found, part):
            have = sorted(known for known, value in vars(found).items() if callable(value) and known[:1] != "_")
            close = difflib.get_close_matches(part, have, n=1)
            near = f" (did you mean {close[0]!r}?)" if close else ""
            raise NotACallable(
                f"{path} has no {name}{near}, but {', '.join(have[:12]) or 'nothing that can be called'}"
            )
        found = getattr(found, part)
    if not callable(found):
        raise NotACallable(f"{path}:{name} is {type(found).__name__}, and must be a function or a class with fields")
    return found


class Form:
    """How a callable is called: its parameters, how its argument is made, and the fields of its result.

    - ``arguments`` maps each argument that a case can set to its description (see `records.describe`).
    - ``record`` is the class of the first parameter, or the callable itself if it is a class; None for a mapping.
    - ``silent`` has the values of required arguments that a case does not set.
    - ``entries`` are the user's functions that a call starts, in order.
    - ``classes`` are the classes with fields that are taken or returned.
    - ``names`` are the outcome's fields; empty before `learn`.
    - ``takes`` are the parameters among `WORLD_PARAMETERS` that the callable has.
    """

    def __init__(self, function: Callable[..., Any], domains: dict[str, list[Any]]) -> None:
        self.function = function
        self.names: list[str] = []
        self._returned = None
        self.takes = []
        self.record = None
        if inspect.isclass(function):
            if records.kind_of(function) is None:
                raise NotACallable(
                    f"{function.__name__} is a class without fields: a class must be a dataclass, an attrs class or "
                    "a pydantic model"
                )
            self.record = self._returned = function
            # There is no function to pass the record to: making it is the resolution.
            self._passes = False
            self.entries = _makers(function)
        else:
            self._read_signature(function)
        self.classes = [cls for cls in (self.record, self._returned) if cls is not None]
        self.arguments = self._arguments(domains)
        self.silent = {
            name: records.placeholder(argument) for name, argument in self.arguments.items() if argument["required"]
        }
        for name, values in domains.items():
            if name in self.silent and values:
                self.silent[name] = values[0]
        for name, value in self.silent.items():
            # A case may leave the argument out, and then gets this value: it is the default, as far as cases go.
            self.arguments[name].update(default=value, required=False)

    def _read_signature(self, function):
        """Read what a function takes and returns. Raises NotACallable if it cannot be called for a case."""
        self._passes = True
        plain = inspect.unwrap(function)
        while isinstance(plain, functools.partial):
            plain = plain.func
        if not inspect.isfunction(plain) and not inspect.ismethod(plain):
            plain = plain.__call__
        parameters = list(inspect.signature(function).parameters.values())
        hints = records.hints_of(plain)
        first = parameters[0] if parameters and parameters[0].name not in WORLD_PARAMETERS else None
        for parameter in parameters:
            if parameter is first or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                continue
            if parameter.name in WORLD_PARAMETERS:
                self.takes.append(parameter.name)
            elif parameter.default is parameter.empty:
                raise NotACallable(
                    f"{plain.__name__} takes the parameter {parameter.name}, and a resolution takes what a case sets "
                    f"first, and then only {', '.join(WORLD_PARAMETERS)}"
                )
        if first is None or first.kind is first.KEYWORD_ONLY:
            raise NotACallable(f"{plain.__name__} takes no first parameter, which is what a case sets")
        hint = hints.get(first.name)
        hint = records.describe("", hint)["hint"] if hint is not None else None
        if records.kind_of(hint) is not None:
            self.record = hint
        elif hint is not None and hint is not typing.Any and not _is_mapping(hint):
            name = getattr(hint, "__name__", str(hint))
            raise NotACallable(
                f"{plain.__name__} takes {first.name}: {name}, and must take a mapping, or a dataclass, an attrs "
                "class or a pydantic model"
            )
        returned = hints.get("return")
        self._returned = returned if records.kind_of(returned) is not None else None
        makers = _makers(self.record) if self.record is not None else []
        self.entries = [*makers, plain] if hasattr(plain, "__code__") else makers

    def _arguments(self, domains):
        """Return the arguments: the fields of the record, and for a mapping also those with values in ``domains``.

        The type of the latter is that of their values.
        """
        found = {}
        if self.record is not None:
            found = {argument["name"]: argument for argument in records.arguments_of(self.record)}
        for name, values in domains.items():
            if name in found:
                continue
            if self.record is not None and records.kind_of(self.record) != "typed dictionary":
                # This record has no such field. The other subject may have it; the parent complains if neither has.
                continue
            kinds = {_KNOWN_TYPES.get(type(value), "object") for value in values if value is not None}
            if kinds == {"int", "float"}:
                kinds = {"float"}
            kind = kinds.pop() if len(kinds) == 1 else "object"
            found[name] = {
                **records.describe(name, None),
                "type": kind,
                "optional": True,
                "flags": records.flags_of(name, kind),
            }
        if not found:
            raise NotACallable(
                f"nothing says what {self.function.__name__} can be given: annotate its first parameter with a "
                "dataclass, an attrs class, a pydantic model or a typed dictionary, or list values by hand under "
                "[tool.stackproof.domains]"
            )
        return found

    def learn(self, resolver: Any, facts: dict[str, Any]) -> None:
        """Find out which fields an outcome has: from the return annotation, else from the case that sets nothing."""
        if self._returned is not None:
            self.names = records.names_of(self._returned)
            return
        refusal = resolver.silent_case(facts)
        if refusal is not None:
            if self.record is None:
                raise NotACallable(
                    f"{self.function.__name__} refuses the case that sets nothing ({refusal}), so which fields it "
                    "resolves is not known: annotate what it returns with a class that has them"
                )
            self.names = records.names_of(self.record)
        if not self.names:
            raise NotACallable(
                f"{self.function.__name__} returns no fields for the case that sets nothing, so which it resolves is "
                "not known: annotate what it returns with a class that has them, or let it return all of them always"
            )

    def call(self, args, facts):
        """Return what the callable makes of ``args``; its argument, which it has then changed, if it returns None.

        Raises whatever the callable raises.
        """
        given = {**_copied(self.silent), **_copied(args)}
        if self.record is not None and records.kind_of(self.record) != "typed dictionary":
            given = self.made(given)
        if not self._passes:
            return given
        world = {name: _copied(facts.get(name, {})) for name in self.takes}
        returned = self.function(given, **world)
        return given if returned is None else returned

    def made(self, given):
        """Return an instance of the record with the given fields, converted from JSON to their annotated types."""
        if records.kind_of(self.record) != "pydantic":
            given = {
                name: records.converted(value, self.arguments[name]["hint"]) if name in self.arguments else value
                for name, value in given.items()
            }
        return self.record(**given)


def _is_mapping(hint):
    origin = typing.get_origin(hint) or hint
    return inspect.isclass(origin) and issubclass(dict, origin)


def _copied(value):
    # A callable may change its argument; the change must not reach the next case.
    if isinstance(value, dict):
        return {key: _copied(part) for key, part in value.items()}
    return [_copied(part) for part in value] if isinstance(value, list) else value


def _makers(cls):
    """Return the functions of a class and its base classes that run when an instance is made."""
    found = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            function = inspect.unwrap(getattr(value, "wrapped", None) or getattr(value, "__func__", value))
            function = getattr(function, "__func__", function)
            if not inspect.isfunction(function) or function.__code__.co_filename.startswith("<"):
                continue
            if name in _MAKING or type(value).__name__ == "PydanticDescriptorProxy" or _decorated(function):
                found[name] = function
    return list(found.values())


def _decorated(function):
    """Return whether a method has one of `_DECORATORS`.

    Only the source shows this, since the decorators of attrs return the function itself.
    """
    try:
        lines, _ = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return False
    decorators = [line.strip() for line in lines if line.strip().startswith("@")]
    return any(line.partition("(")[0].rpartition(".")[2].lstrip("@") in _DECORATORS for line in decorators)
