"""A source tree in a folder of the user, which is used without a copy."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from harness.common.errors import UsageError, hint
from harness.common.reading import read_file
from harness.common.writing import expanded
from harness.subjects.sources.tree import PACKAGE, USUAL_PLACES, Tree, landmarks_of

_ENVIRONMENT: Final = "pyvenv.cfg"


def folder_tree(path: str, cwd: Path, package: str = PACKAGE, module: str = "") -> Tree:
    """Return the tree of ``package`` in the folder ``path``, which is relative to ``cwd`` unless absolute.

    The folder may hold the package, be the top of a repository with it in ``python`` or ``src``, or be the
    package's folder itself. With ``module`` it must hold that module of the package.

    Raises UsageError when there is no such folder or no tree in it.
    """
    # normpath, not resolve: a folder behind a link keeps the name that the user knows.
    folder = Path(os.path.normpath(cwd.absolute() / expanded(path)))
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise UsageError(f"the folder {str(folder)!r} of subject 'dir:{path}' {what}{_beside(folder)}")
    candidates = [folder / place for place in USUAL_PLACES]
    if folder.name == package:
        candidates.append(folder.parent)
    landmarks = landmarks_of(package, module)
    for root in candidates:
        if any((root / landmark).is_file() for landmark in landmarks):
            within = root.relative_to(cwd.absolute()).as_posix() if root.is_relative_to(cwd.absolute()) else None
            return Tree(
                root=root, label=f"dir:{path}", identity=f"dir:{root}", folder="" if within == "." else within
            )
    looked = ", ".join(str(Path(place) / landmark) for landmark in landmarks for place in USUAL_PLACES)
    if module:
        raise UsageError(
            f"there is no module {module} in the folder {str(folder)!r}{_modules_beside(candidates, module)}: looked"
            f" for {looked}; stand in the folder that holds {package}, or name it: 'dir:PATH#python:...'"
        )
    raise UsageError(
        f"no source tree in the folder {str(folder)!r} of subject 'dir:{path}': looked for {looked}, and for"
        f" {landmarks[0].relative_to(package)} in case it is the {package} folder itself; name the folder that"
        f" holds {package}/"
    )


def sources_in(folder: Path) -> str:
    """Return a digest of the names and texts of all Python files under ``folder``.

    Hidden folders and virtual environments are left out: they are no sources of a subject.
    """
    paths: list[Path] = []
    for place, folders, files in os.walk(folder):
        folders[:] = [
            name for name in folders if not name.startswith(".") and not Path(place, name, _ENVIRONMENT).is_file()
        ]
        paths += [Path(place, name) for name in files if name.endswith(".py")]
    digest = hashlib.sha256()
    for path in sorted(paths):
        # A file that cannot be read cannot be imported either.
        with suppress(OSError):
            where, text = os.fsencode(path.relative_to(folder)), read_file(path)
            digest.update(b"%d %s %d " % (len(where), where, len(text)) + text)
    return f"sha256:{digest.hexdigest()}"


def _modules_beside(roots: list[Path], module: str) -> str:
    """Return a hint at the most similar module in the folders in which ``module`` was looked for."""
    package = module.rpartition(".")[0]
    names: list[str] = []
    for root in roots:
        try:
            entries = list(root.joinpath(*package.split(".")).iterdir())
        except OSError:
            continue
        names += [entry.stem for entry in entries if entry.suffix == ".py" or (entry / "__init__.py").is_file()]
    return hint(module, [f"{package}.{name}" if package else name for name in names if name != "__init__"])


def _beside(folder: Path) -> str:
    """Return a hint at the most similar of the folders beside the missing ``folder``."""
    try:
        siblings = [entry.name for entry in folder.parent.iterdir() if entry.is_dir()]
    except OSError:
        return ""
    return hint(folder.name, siblings)
