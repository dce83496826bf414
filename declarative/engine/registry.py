"""Which providers an architecture has.

A registry is made once, from explicit tables. Nothing is added later, and no import adds anything. For an
architecture, its constants come first, then its providers in the order of the table, then the providers whose
predicate holds for its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from .errors import DeclarationError
from .steps import Declaration, Provider

Predicate: TypeAlias = Callable[[str], bool]


@dataclass(frozen=True, eq=False)
class Constant(Provider):
    """The constant declaration of one architecture; ``why`` is the sentence that gives its reason."""

    architecture: str = ""
    why: str = ""

    @property
    def reason(self) -> str:
        """Why the architecture has this entry."""
        return self.why

    @property
    def name(self) -> str:
        """The entry of the table, as Python code."""
        return f"MODEL_OVERRIDES[{self.architecture!r}]"


def _constant(architecture: str, declared: Mapping[str, Any], why: str) -> Constant:
    def declare(arguments: Any, model: Any) -> Declaration:
        return dict(declared)

    return Constant(declare, tuple(declared), architecture=architecture, why=why)


class Registry:
    """The providers of every architecture.

    ``constants`` gives an architecture its constant declaration, ``reasons`` says why it has one. ``exact`` pairs
    providers with one name or several. ``predicates`` pairs them with a function of the name. Raises DeclarationError
    when a name has a provider twice.
    """

    def __init__(
        self,
        *,
        constants: Mapping[str, Mapping[str, Any]] | None = None,
        reasons: Mapping[str, str] | None = None,
        exact: Sequence[tuple[str | Sequence[str], Provider]] = (),
        predicates: Sequence[tuple[Predicate, Provider]] = (),
    ) -> None:
        whys = reasons or {}
        self._constants = {
            name: _constant(name, declared, whys.get(name, "")) for name, declared in (constants or {}).items()
        }
        self._predicates = tuple(predicates)
        self._exact: dict[str, list[Provider]] = {}
        for names, listed in exact:
            for name in (names,) if isinstance(names, str) else names:
                providers = self._exact.setdefault(name, [])
                if listed in providers:
                    raise DeclarationError(f"{listed.name} is registered twice for {name}")
                providers.append(listed)

    def providers(self, architecture: str | None) -> tuple[Provider, ...]:
        """Return the providers of ``architecture``, in order; none for None."""
        if architecture is None:
            return ()
        constant = self._constants.get(architecture)
        return (
            *(() if constant is None else (constant,)),
            *self._exact.get(architecture, ()),
            *(listed for holds, listed in self._predicates if holds(architecture)),
        )

    def __iter__(self) -> Iterator[Provider]:
        """Yield every provider once, in order."""
        listed = (*(provider for providers in self._exact.values() for provider in providers),)
        yield from dict.fromkeys((*self._constants.values(), *listed, *(item for _, item in self._predicates)))
