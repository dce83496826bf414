"""The child's first lines: make our code importable under a private name, then serve.

Run by path: ``python -S -B boot.py REQUEST_FD RESPONSE_FD NUMBER``.

A tree may have a package ``harness`` or a module ``wire`` of its own, and its imports must find those and not ours.
So no folder of ours stays on ``sys.path``. Instead the folder ``harness`` becomes the package ``_stackproof``. Its
modules import one another by relative imports only, so that the same files also work as ``harness.subjects.child``
in the processes that import them by that name.
"""

import sys

# Python puts the script's folder first on the path. Remove it before anything else is imported.
_HERE = sys.path.pop(0)

import importlib.util  # noqa: E402
import os  # noqa: E402

PACKAGE = "_stackproof"
_HARNESS = os.path.dirname(os.path.dirname(_HERE))


def _load() -> None:
    """Import the folder ``harness`` as ``PACKAGE``; this is quick, because its ``__init__`` imports nothing."""
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(_HARNESS, "__init__.py"), submodule_search_locations=[_HARNESS]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    _load()
    server = importlib.import_module(f"{PACKAGE}.subjects.child.main")
    arguments = map(int, sys.argv[1:])
    del sys.argv[1:]
    server.main(*arguments)
