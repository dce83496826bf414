"""The slots with two steps exchanged, which shows whether the order of the two matters."""

from __future__ import annotations

from collections.abc import Sequence

from .errors import DeclarationError, hint
from .pipeline import DISPATCH, Dispatch, Slot
from .registry import Registry
from .steps import Pass


def exchanged(slots: Sequence[Slot], registry: Registry, first: str, second: str) -> tuple[Slot, ...]:
    """Return ``slots`` with the steps named ``first`` and ``second`` exchanged.

    All providers run at one place, so the name of one stands for all of them.

    Raises DeclarationError for a name that no step has, and for two steps at one place: the same step, or two
    providers.
    """
    places: dict[str, tuple[int, int]] = {}
    for number, slot in enumerate(slots):
        for place, step in enumerate(slot.steps):
            for name in [step.name] if isinstance(step, Pass) else [provider.name for provider in registry]:
                places[name] = (number, place)
    for name in (first, second):
        if name not in places:
            raise DeclarationError(f"there is no step {name!r}{hint(name, places)}")
    if places[first] == places[second]:
        raise DeclarationError(f"{first} and {second} are in one place and cannot be exchanged")
    steps: list[list[Pass | Dispatch]] = [list(slot.steps) for slot in slots]
    (a, i), (b, j) = places[first], places[second]
    steps[a][i], steps[b][j] = steps[b][j], steps[a][i]
    # The place of the providers was moved at most, never doubled.
    assert sum(step is DISPATCH for slot in steps for step in slot) <= 1
    return tuple(slot._replace(steps=tuple(listed)) for slot, listed in zip(slots, steps, strict=True))
