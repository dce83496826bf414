"""Trees of source files, on disk or in memory. Only `copied` and `write` change the disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from harness.common.errors import UsageError
from harness.common.writing import os_words

_SKIPPED = {"__pycache__", "node_modules", "site-packages"}


class SourceTree(Protocol):
    """A set of source files.

    A file's name is its path relative to the folder that holds the package, with forward slashes.
    """

    def names(self) -> tuple[str, ...]:
        """Return the paths of all Python files, sorted."""
        ...

    def read(self, name: str) -> bytes:
        """Return the bytes of the file ``name``; raises KeyError if there is no such file."""
        ...


class MemoryTree:
    """Files in memory. If a tree ``below`` is given, its files are there too, unless one here has the same name."""

    def __init__(self, files: Mapping[str, bytes], below: SourceTree | None = None) -> None:
        self._files = dict(files)
        self._below = below

    def names(self) -> tuple[str, ...]:
        """Return the paths of all files, sorted."""
        return tuple(sorted({*self._files, *(self._below.names() if self._below else ())}))

    def read(self, name: str) -> bytes:
        """Return the bytes of the file ``name``; raises KeyError if there is no such file."""
        return self._files[name] if name in self._files or self._below is None else self._below.read(name)


class FolderTree:
    """The Python files under a folder, without hidden folders, caches and symbolic links.

    With ``package``, only the files in that subfolder belong to the tree; names are still relative to ``root``.
    """

    def __init__(self, root: Path | str, package: str = "") -> None:
        """Raises UsageError if ``root`` is not a folder."""
        self.root = Path(root)
        self._package = package
        if not self.root.is_dir():
            raise UsageError(f"{root} is no folder: give the folder that holds the package")
        self._names: tuple[str, ...] | None = None
        self._held: dict[str, bytes] = {}

    def names(self) -> tuple[str, ...]:
        """Return the paths of all Python files, sorted."""
        if self._names is None:
            files = _python_files(self.root / self._package)
            self._names = tuple(sorted(path.relative_to(self.root).as_posix() for path in files))
        return self._names

    def read(self, name: str) -> bytes:
        """Return the bytes of the file ``name``; raises KeyError if there is no such file."""
        if name not in self._held:
            path = self.root / name
            if not path.is_file():
                raise KeyError(name)
            self._held[name] = path.read_bytes()
        return self._held[name]


def _python_files(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _SKIPPED]
        for file in files:
            path = Path(folder, file)
            if file.endswith(".py") and not path.is_symlink():
                yield path


def copied(root: Path | str, to: Path | str) -> Path:
    """Copy the tree ``root`` to the new folder ``to``, without caches and ``.git``, and return the new folder.

    Raises UsageError if ``root`` is not a folder, if ``to`` exists already, or if copying fails; a copy that failed
    is removed.
    """
    source, target = Path(root), Path(to)
    if not source.is_dir():
        raise UsageError(f"{root} is no folder: give the folder that holds the package")
    if target.exists():
        raise UsageError(f"{to} is there already: name a new folder")
    try:
        shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", ".git"))
    except OSError as error:
        shutil.rmtree(target, ignore_errors=True)
        raise UsageError(f"the tree {root} cannot be copied to {to}: {os_words(error)}") from None
    return target


def write(root: Path, changed: Mapping[str, bytes]) -> None:
    """Write the files ``changed`` under ``root``.

    All are first written under temporary names, and only then renamed, so that a full disk changes nothing. A file
    keeps its permissions. Raises UsageError for a path that leads out of ``root``, and if writing fails.
    """
    inside = root.resolve()
    for name in changed:
        if not (root / name).resolve().is_relative_to(inside):
            raise UsageError(f"{name} leads out of {root}: nothing was written there")
    beside: dict[Path, Path] = {}
    try:
        for name in sorted(changed):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".codemod-")
            beside[path] = Path(temporary)
            with os.fdopen(handle, "wb") as file:
                file.write(changed[name])
            beside[path].chmod(path.stat().st_mode & 0o7777 if path.exists() else 0o644)
        for path, new in beside.items():
            new.replace(path)
    except OSError as error:
        raise UsageError(f"the tree {root} cannot be written: {os_words(error)}") from None
    finally:
        for new in beside.values():
            new.unlink(missing_ok=True)
