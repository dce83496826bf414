"""What is called, and which argument each parameter of the called function gets."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .nodes import Function, Scope, last_name


class CallArguments(NamedTuple):
    """The arguments of one call.

    ``by_name`` maps a parameter, or a keyword that the call uses, to its argument. ``rest`` are the positional
    arguments after the last named parameter; a parameter ``*args`` collects them. ``is_whole`` is False if the call
    has ``*x`` or ``**x``, since these may give further parameters their values.
    """

    by_name: dict[str, ast.expr]
    rest: list[ast.expr]
    is_whole: bool


def calls_in(root: ast.AST) -> Iterator[ast.Call]:
    """Yield all calls under ``root``, itself included, in no order."""
    return (node for node in ast.walk(root) if isinstance(node, ast.Call))


def called_name(statement: ast.AST) -> str:
    """Return the name of the called function if a statement is only a call (``f`` for ``self.f()``), else ""."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return last_name(statement.value.func)
    return ""


def given(call: ast.Call) -> list[ast.expr]:
    """Return all arguments of a call, first those without a keyword."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def positional(function: Scope) -> list[str]:
    """Return the names of the parameters that a call may give without a keyword, in order."""
    return [item.arg for item in (*function.args.posonlyargs, *function.args.args)]


def defaults(function: Scope) -> dict[str, ast.expr]:
    """Return the defaults of a function's parameters by name."""
    names = positional(function)
    found = dict(zip(names[len(names) - len(function.args.defaults) :], function.args.defaults, strict=True))
    pairs = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return found | {item.arg: value for item, value in pairs if value is not None}


def arguments_of(call: ast.Call, function: Function, skipped: int = 0) -> CallArguments:
    """Return which argument of ``call`` each parameter of ``function`` gets; defaults are not filled in.

    ``skipped`` is the number of parameters, such as ``self``, that come before the first argument. A positional
    argument after a star has no name here, because the text does not show which parameter it belongs to.
    """
    names = positional(function)[skipped:]
    stars = [place for place, item in enumerate(call.args) if isinstance(item, ast.Starred)]
    shown = call.args[: stars[0]] if stars else call.args
    by_name = dict(zip(names, shown, strict=False))
    by_name |= {word.arg: word.value for word in call.keywords if word.arg is not None}
    is_whole = not stars and all(word.arg is not None for word in call.keywords)
    return CallArguments(by_name, call.args[len(names) :], is_whole)
