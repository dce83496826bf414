"""The codemods, one a module; the registry finds them by walking this folder, and lists no names."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from functools import cache

from codemods.frame.codemod import Codemod
from harness.common.errors import UsageError, hint


@cache
def catalog() -> Mapping[str, type[Codemod]]:
    """Return the codemods by name, which is their module's, in alphabetical order."""
    found: dict[str, type[Codemod]] = {}
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        module = importlib.import_module(f"{__name__}.{info.name}")
        for _, item in inspect.getmembers(module, inspect.isclass):
            if issubclass(item, Codemod) and not inspect.isabstract(item) and item.__module__ == module.__name__:
                found[info.name] = item
    return found


def codemod_named(name: str) -> type[Codemod]:
    """Return the codemod ``name``; raises UsageError with the nearest name."""
    if name not in catalog():
        raise UsageError(f"there is no codemod {name!r}{hint(name, catalog())}: use one of {', '.join(catalog())}")
    return catalog()[name]
