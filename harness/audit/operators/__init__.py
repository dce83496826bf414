"""The kinds of faults, one a module; whatever module is here is used."""

from __future__ import annotations

import inspect
import pkgutil
from functools import cache
from importlib import import_module

from harness.audit.operator import Operator


@cache
def all_operators() -> tuple[Operator, ...]:
    """Return one operator of each kind, by name."""
    found: list[Operator] = []
    for module in pkgutil.iter_modules(__path__, prefix=f"{__name__}."):
        for _, member in inspect.getmembers(import_module(module.name), inspect.isclass):
            if issubclass(member, Operator) and member.__module__ == module.name:
                found.append(member())
    return tuple(sorted(found, key=lambda operator: operator.name))
