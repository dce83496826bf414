"""A source tree that lies in a folder of the user's, taken as it is."""

from __future__ import annotations

import os
from pathlib import Path

from harness.errors import UsageError, hint
from harness.subjects.sources.tree import LANDMARK, PACKAGE, USUAL_PLACES, Tree


def folder_tree(path: str, cwd: Path) -> Tree:
    """Return the tree in the folder ``path``, which is relative to ``cwd`` unless absolute.

    The folder may hold ``sglang/``, be the top of a repository with ``python/sglang`` or ``src/sglang``, or
    be the ``sglang`` folder itself.

    Raises UsageError when there is no such folder or no tree in it.
    """
    # normpath, not resolve: a linked folder keeps the name the user knows it by.
    folder = Path(os.path.normpath(cwd.absolute() / Path(path).expanduser()))
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise UsageError(f"the folder {str(folder)!r} of subject 'dir:{path}' {what}{_beside(folder)}")
    candidates = [folder / place for place in USUAL_PLACES]
    if folder.name == PACKAGE:
        candidates.append(folder.parent)
    for root in candidates:
        if (root / LANDMARK).is_file():
            return Tree(root=root, label=f"dir:{path}", identity=f"dir:{root}")
    looked = ", ".join(str(Path(place) / LANDMARK) for place in USUAL_PLACES)
    raise UsageError(
        f"no source tree in the folder {str(folder)!r} of subject 'dir:{path}': looked for {looked}, and for"
        f" {LANDMARK.relative_to(PACKAGE)} in case it is the {PACKAGE} folder itself; name the folder that"
        f" holds {PACKAGE}/"
    )


def _beside(folder: Path) -> str:
    """Return a hint from the folders that do lie where ``folder`` was looked for."""
    try:
        siblings = [entry.name for entry in folder.parent.iterdir() if entry.is_dir()]
    except OSError:
        return ""
    return hint(folder.name, siblings)
