"""The stages with two steps in each other's place, to see what an order is worth."""

from __future__ import annotations

from collections.abc import Sequence

from .errors import DeclarationError, hint
from .pipeline import DISPATCH, Dispatch, Stage
from .registry import Registry
from .steps import Pass


def exchanged(stages: Sequence[Stage], registry: Registry, first: str, second: str) -> tuple[Stage, ...]:
    """Return ``stages`` with the steps named ``first`` and ``second`` exchanged; a provider stands for all of them.

    Raises DeclarationError for a name that no step has, and for two steps of one place: two providers.
    """
    places: dict[str, tuple[int, int]] = {}
    for number, stage in enumerate(stages):
        for place, step in enumerate(stage.steps):
            for name in [step.name] if isinstance(step, Pass) else [provider.name for provider in registry]:
                places[name] = (number, place)
    for name in (first, second):
        if name not in places:
            raise DeclarationError(f"there is no step {name!r}{hint(name, places)}")
    if places[first] == places[second]:
        raise DeclarationError(f"{first} and {second} stand in one place and cannot be exchanged")
    steps: list[list[Pass | Dispatch]] = [list(stage.steps) for stage in stages]
    (a, i), (b, j) = places[first], places[second]
    steps[a][i], steps[b][j] = steps[b][j], steps[a][i]
    assert sum(step is DISPATCH for stage in steps for step in stage) <= 1
    return tuple(stage._replace(steps=tuple(listed)) for stage, listed in zip(stages, steps, strict=True))
