"""The codemods, one in each module; `catalog` looks through this folder, so that no list has to be kept."""

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
    """Return each codemod by its name, which is that of its module, in alphabetical order."""
    found: dict[str, type[Codemod]] = {}
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        module = importlib.import_module(f"{__name__}.{info.name}")
        for _, item in inspect.getmembers(module, inspect.isclass):
            if issubclass(item, Codemod) and not inspect.isabstract(item) and item.__module__ == module.__name__:
                found[info.name] = item
    return found


def codemod_named(name: str) -> type[Codemod]:
    """Return the codemod ``name``; if there is none, raises UsageError, which suggests the nearest name."""
    if name not in catalog():
        raise UsageError(f"there is no codemod {name!r}{hint(name, catalog())}: use one of {', '.join(catalog())}")
    return catalog()[name]
