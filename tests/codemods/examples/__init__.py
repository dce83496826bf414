"""Before and after of each codemod: ``examples/NAME.py`` holds those of the codemod ``NAME``, as ``EXAMPLES``.

They are its tests (``test_examples.py``) and its documentation (``docs/reference.py``).
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Example:
    """Source before and after; ``after`` is None where it stays as it is.

    ``options`` are the codemod's arguments, ``left`` words of its reasons for what it left, ``file`` the module's
    path, ``record`` its record, and ``others`` further files of the example's tree.
    """

    title: str
    before: str
    after: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    left: tuple[str, ...] = ()
    file: str = "app/args.py"
    record: str = "app.args:Args"
    others: Mapping[str, str] = field(default_factory=dict)


def examples_of(codemod: str) -> tuple[Example, ...]:
    """Return the examples of the codemod with this name; raises ImportError when it has none."""
    found: tuple[Example, ...] = importlib.import_module(f"examples.{codemod}").EXAMPLES
    return found
