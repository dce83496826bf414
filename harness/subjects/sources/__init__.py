"""Source trees from everywhere: a release of the package index, a git revision, a folder, or this repository."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from packaging.version import Version

from harness.formats.subjectname import SubjectName
from harness.subjects.sources.cache import cache_root
from harness.subjects.sources.folders import folder_tree
from harness.subjects.sources.own import own_tree
from harness.subjects.sources.revisions import revision_tree
from harness.subjects.sources.tree import Tree
from harness.subjects.sources.wheels import release_tree

__all__ = ["Tree", "cache_root", "folder_tree", "locate", "own_tree", "release_tree", "revision_tree"]


def locate(name: SubjectName, *, cwd: Path) -> Tree:
    """Return the source tree that ``name`` means, labelled with the text that the user wrote.

    A relative folder starts at ``cwd``, and a revision is one of the git repository around it. A release or a
    revision is taken from the user's cache, and put there first if it is missing.

    Raises UsageError if there is no such tree, or if it can't be fetched.
    """
    module = name.target.partition(":")[0]
    if name.kind == "release":
        package, _, version = name.value.partition("==")
        tree = release_tree(package, Version(version), cache_root())
    elif name.kind == "git":
        tree = revision_tree(name.value, cwd, cache_root(), name.package, module)
    elif name.kind == "dir":
        tree = folder_tree(name.value, cwd, name.package, module)
    else:
        tree = own_tree(name.package)
    return dataclasses.replace(tree, label=name.text)
