"""Before and after of `add_runtime`."""

from __future__ import annotations

from pathlib import Path

import codemods.runtime.overrides_runtime as runtime
from examples import Example

_BEFORE = "class Args:\n    page_size: int = 1\n"

EXAMPLES = (
    Example(
        "The runtime's own file",
        "",
        Path(runtime.__file__).read_text(),
        file="app/overrides_runtime.py",
        others={"app/args.py": _BEFORE},
    ),
    Example("No other file changes", _BEFORE),
)
