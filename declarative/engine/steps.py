"""Passes and providers: functions that declare, each with the names that it may declare.

A declaration is a dict, or None for nothing. Its keys are of three kinds, and a function lists each kind apart:

- ``writes``: fields of the whitelist. They become flags.
- ``state``: other attributes of the arguments, which are not resolvable. A dotted name is an attribute of a nested
  object (``graphs.decode.backend``).
- ``env``: environment variables. The value is written as ``str(value)``.

``state`` and ``env`` are declared effects: the function returns them, and the pipeline applies them, once, right
after the function returns and before the next one runs.

``when`` is a condition on the facts of a resolution (see the module `pipeline`). If it does not hold, the function
does not run, as if it had declared nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from .errors import DeclarationError, hint

Declaration: TypeAlias = dict[str, Any]
FactCondition: TypeAlias = Callable[[Any], bool]


@dataclass(frozen=True, eq=False)
class Step:
    """What passes and providers share: a function, the names that it may declare, and when it runs."""

    function: Callable[..., Declaration | None]
    writes: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    when: FactCondition | None = None

    def __post_init__(self) -> None:
        if len(set(self.allowed)) != len(self.allowed):
            raise DeclarationError(f"{self.name} lists a name twice among those that it may declare: {self.allowed}")

    @property
    def allowed(self) -> tuple[str, ...]:
        """All names that the step may declare."""
        return (*self.writes, *self.state, *self.env)

    @property
    def name(self) -> str:
        """The function's name: the source of what it declares."""
        return self.function.__name__

    @property
    def reason(self) -> str:
        """Why the step declares what it does: the first paragraph of the function's docstring, as one line."""
        return " ".join((self.function.__doc__ or "").strip().partition("\n\n")[0].split())

    def checked(self, declared: Any) -> Declaration:
        """Return ``declared``, or an empty dict for None.

        Raises DeclarationError, with the function's name, for anything that the step may not declare.
        """
        if declared is None:
            return {}
        if not isinstance(declared, dict):
            raise DeclarationError(f"{self.name} must return a dict or None, not {type(declared).__name__}")
        for key in declared:
            if key not in self.allowed:
                listed = ", ".join(sorted(self.allowed)) or "nothing"
                raise DeclarationError(
                    f"{self.name} declares {key!r}{hint(str(key), self.allowed)}: it may declare {listed}"
                )
        return declared


class Pass(Step):
    """A step whose function gets the view."""

    def __call__(self, view: Any) -> Declaration:
        """Run the function; return what it declares, an empty dict if that is nothing.

        Raises what the function raises, and DeclarationError for anything that the pass may not declare.
        """
        return self.checked(self.function(view))


class Provider(Step):
    """A step whose function gets the pristine arguments and the model."""

    def __call__(self, arguments: Any, model: Any) -> Declaration:
        """Run the function; return what it declares, an empty dict if that is nothing.

        Raises what the function raises, and DeclarationError for anything that the provider may not declare.
        """
        return self.checked(self.function(arguments, model))


def post_process(
    *,
    writes: tuple[str, ...] = (),
    state: tuple[str, ...] = (),
    env: tuple[str, ...] = (),
    when: FactCondition | None = None,
) -> Callable[[Callable[[Any], Declaration | None]], Pass]:
    """Make a pass of the function below. This registers nothing: the pipeline must list the pass."""
    return lambda function: Pass(function, writes, state, env, when)


def check(*, when: FactCondition | None = None) -> Callable[[Callable[[Any], None]], Pass]:
    """Make a pass of the function below, which declares nothing: it raises, or returns None."""
    return lambda function: Pass(function, when=when)


def provider(*, writes: tuple[str, ...]) -> Callable[[Callable[[Any, Any], Declaration | None]], Provider]:
    """Make a provider of the function below. This registers nothing: a registry must list the provider."""
    return lambda function: Provider(function, writes)
