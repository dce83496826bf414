"""A package of this repository as a source tree. It is found by its name, since the core may not import it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from harness.common.errors import UsageError
from harness.subjects.sources.folders import sources_in
from harness.subjects.sources.tree import Tree


def own_tree(package: str) -> Tree:
    """Return the installed package ``package``; its identity is a hash of its sources' names and texts.

    Raises UsageError if it is not installed as a folder of sources.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None or not spec.submodule_search_locations:
        raise UsageError(f"subject {package!r}: this installation of stackproof lacks it, install stackproof again")
    folder = Path(spec.origin).parent
    return Tree(root=folder.parent, label=package, identity=sources_in(folder))
