"""The child's first lines: load the package beside this file under a private name, then serve.

Run by path (``python -S -B boot.py REQUEST_FD RESPONSE_FD NUMBER``). The folder of a script run by path leads
``sys.path``; it is dropped before anything else is imported, so that a tree's own ``wire`` or ``world`` is never
ours.
"""

import sys

_HERE = sys.path.pop(0)

import importlib.util  # noqa: E402

PACKAGE = "_stackproof_child"


def _load() -> None:
    spec = importlib.util.spec_from_file_location(PACKAGE, f"{_HERE}/__init__.py", submodule_search_locations=[_HERE])
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    _load()
    server = importlib.import_module(f"{PACKAGE}.serve")
    arguments = map(int, sys.argv[1:])
    del sys.argv[1:]
    server.serve(*arguments)
