"""Subjects that run among stand-ins: trees and callables, whose cases are facts that the stand-ins answer from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..serve.adapter import Adapter
from ..serve.operations import CaseRequest, JsonObject
from ..world.caches import Caches
from .resolve import Resolver


class FactsAdapter(Adapter[JsonObject]):
    """A subject whose cases a `Resolver` resolves, and whose cached functions `Caches` empties."""

    _resolver: Resolver
    _caches: Caches

    def choose(self, names: Sequence[str]) -> list[str]:
        """Fix which outcome fields ``resolve`` reports; return those that the subject has."""
        return self._resolver.choose(names)

    def resolve(self, case: JsonObject) -> bytes:
        """Return the case's answer frame."""
        return self._resolver.resolve(case)

    def forget(self) -> None:
        """Drop what the tree's functions remember."""
        self._caches.forget_all()

    def cases(self, request: CaseRequest[Any]) -> Iterator[JsonObject]:
        """Yield the facts of each case."""
        return facts_of(request)


def facts_of(request: CaseRequest[Any]) -> Iterator[JsonObject]:
    """Yield each case of a request as the facts that stand-ins answer from."""
    machines, models = request.machines, request.models
    for args, machine, model, env in request.cases:
        hardware, probes = machines[machine]
        described, checkpoint = models[model]
        yield {
            "hardware": hardware,
            "probe": probes,
            "model": described,
            "checkpoint": checkpoint,
            "args": args,
            "env": env,
        }
