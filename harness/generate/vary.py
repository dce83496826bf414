"""Varies a kept case, that is one that reached something new.

A variation makes one to three changes. Some of them take a part of another kept case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from harness.generate.chance.draw import Draw
from harness.generate.values.domains import Domains
from harness.generate.values.machines import changed_machine, draw_machine
from harness.generate.values.models import ModelDraw
from harness.world.case import Case

# How many of ten variations have a single change; the others have two or three.
_SINGLE: Final = 6


class Variation:
    """Varies the cases of one campaign."""

    def __init__(self, domains: Domains, models: ModelDraw) -> None:
        self._domains = domains
        self._models = models
        self._variables = tuple(domains.environment)
        # `_set`, which changes an argument, is here three times, because most inputs are arguments.
        self._changes: tuple[Callable[[Case, Case, Draw], Case], ...] = (
            self._set,
            self._set,
            self._set,
            self._drop,
            self._variable,
            self._machine,
            self._model,
            self._cross,
        )

    def varied(self, draw: Draw, base: Case, other: Case, case_id: str) -> Case:
        """Return ``base`` with one to three changes; some take a part of ``other``."""
        case = msgspec.structs.replace(base, id=case_id, args=dict(base.args), env=dict(base.env))
        for _ in range(1 if draw.below(10) < _SINGLE else 2 + draw.below(2)):
            case = draw.pick(self._changes)(case, other, draw)
        return case

    def _set(self, case: Case, other: Case, draw: Draw) -> Case:
        pool = self._domains.pool
        if not pool:
            return case
        names = tuple(name for name in case.args if name in self._domains.args)
        name = draw.pick(names) if names and draw.chance(50) else draw.pick(pool)
        case.args[name] = self._domains.args[name].drawn(draw)
        return case

    def _drop(self, case: Case, other: Case, draw: Draw) -> Case:
        given: tuple[tuple[dict[str, Any], str], ...] = (
            *((case.args, name) for name in case.args),
            *((case.env, name) for name in case.env),
        )
        if given:
            where, name = draw.pick(given)
            del where[name]
        return case

    def _variable(self, case: Case, other: Case, draw: Draw) -> Case:
        if self._variables:
            name = draw.pick(self._variables)
            case.env[name] = draw.pick(self._domains.environment[name])
        return case

    def _machine(self, case: Case, other: Case, draw: Draw) -> Case:
        hardware = changed_machine(case.hardware, draw) if draw.chance(50) else draw_machine(draw)
        return msgspec.structs.replace(case, hardware=hardware)

    def _model(self, case: Case, other: Case, draw: Draw) -> Case:
        model = self._models.changed(case.model, draw) if draw.chance(60) else self._models.draw(draw)
        return msgspec.structs.replace(case, model=model)

    def _cross(self, case: Case, other: Case, draw: Draw) -> Case:
        what = draw.below(4)
        if what == 0:
            return msgspec.structs.replace(case, hardware=other.hardware)
        if what == 1:
            return msgspec.structs.replace(case, model=other.model)
        where, given = (case.args, other.args) if what == 2 else (case.env, other.env)
        where.update({name: value for name, value in given.items() if draw.chance(50)})
        return case
