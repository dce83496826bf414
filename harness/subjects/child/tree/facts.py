"""The common part of trees and callables: their cases are facts, from which stand-ins and probes are answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..serve.adapter import Adapter
from ..serve.operations import CaseRequest, JsonObject
from ..world.caches import Caches
from .resolve import Resolver


class FactsAdapter(Adapter[JsonObject]):
    """A subject whose cases are resolved by a `Resolver`, and whose cached functions are kept by `Caches`."""

    _resolver: Resolver
    _caches: Caches

    def choose(self, names: Sequence[str]) -> list[str]:
        """Fix which outcome fields ``resolve`` reports; return those that the subject has."""
        return self._resolver.choose(names)

    def resolve(self, case: JsonObject) -> bytes:
        """Return the answer frame of a case."""
        return self._resolver.resolve(case)

    def forget(self) -> None:
        """Drop what the subject's cached functions remember."""
        self._caches.forget_all()

    def cases(self, request: CaseRequest[Any]) -> Iterator[JsonObject]:
        """Yield the facts of each case."""
        return facts_of(request)


def facts_of(request: CaseRequest[Any]) -> Iterator[JsonObject]:
    """Yield each case of a request as facts: arguments, variables, and what is true of the machine and the model."""
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
