"""A source tree, and the rules for writing the files of an archive that may be hostile into one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

PACKAGE: Final = "sglang"
LANDMARK: Final = PurePosixPath("sglang/srt/server_args.py")
"""The file that makes a folder a source tree of sglang."""

USUAL_PLACES: Final = ("", "python", "src")
"""The folders of a repository that usually hold the package, likeliest first."""

MAX_FILES: Final = 50_000
MAX_BYTES: Final = 512 * 1024 * 1024
"""The most files and bytes of a tree; an sglang release has 2,500 Python files of 34 MB in all."""


def landmarks_of(package: str, module: str = "") -> tuple[PurePosixPath, ...]:
    """Return files by which a folder is recognised as a source tree of ``package``, or one with ``module``.

    One of them is enough.
    """
    if module:
        path = PurePosixPath(*module.split("."))
        return path.with_name(f"{path.name}.py"), path / "__init__.py"
    return (LANDMARK if package == PACKAGE else PurePosixPath(package, "__init__.py"),)


class Refused(Exception):
    """An archive that must not be unpacked; ``str(error)`` is the reason, as half a sentence."""


@dataclass(frozen=True)
class Tree:
    """A source tree that can be imported.

    - ``root``: the folder to put on the module path; it contains the package.
    - ``label``: the subject as the user sees it.
    - ``identity``: identifies the sources. It is ``sha256:...`` of the wheel or of an own package's files,
      ``commit:...``, or ``dir:`` and the absolute path.
    - ``folder``: ``root`` as a relative path with ``/``: for a revision from the top of the repository, for a folder
      inside the working folder from there; None for any other tree.
    """

    root: Path
    label: str
    identity: str
    folder: str | None = None


def safe_member(name: str) -> PurePosixPath:
    """Return the relative path of the archive's member ``name``.

    Raises Refused for a name that could lead outside of the folder into which the archive is unpacked.
    """
    parts = name.rstrip("/").split("/")
    drive = len(parts[0]) > 1 and parts[0][1] == ":"
    if name.startswith("/") or drive or "\\" in name or "\0" in name:
        raise Refused(f"it holds the unsafe path {name!r}")
    if any(part in ("", ".", "..") for part in parts):
        raise Refused(f"it holds the unsafe path {name!r}")
    return PurePosixPath(*parts)


class TreeWriter:
    """Writes the files of one tree under ``root``, and refuses more than `MAX_FILES` or `MAX_BYTES`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders: set[Path] = set()
        self._files = 0
        self._bytes = 0

    def room(self, size: int) -> None:
        """Raise Refused if one more file of ``size`` bytes would exceed the bounds."""
        if self._files + 1 > MAX_FILES:
            raise Refused(f"it holds more than {MAX_FILES} files")
        if self._bytes + size > MAX_BYTES:
            raise Refused(f"it unpacks to more than {MAX_BYTES // 1024 // 1024} MiB")

    def write(self, path: PurePosixPath, content: bytes) -> None:
        """Write a new, read-only file at the safe relative ``path``.

        Raises Refused if it exceeds the bounds or is there already; OSError if it can't be written.
        """
        self.room(len(content))
        self._files += 1
        self._bytes += len(content)
        target = self._root / path
        try:
            if target.parent not in self._folders:
                target.parent.mkdir(parents=True, exist_ok=True)
                self._folders.add(target.parent)
            with target.open("xb") as stream:
                stream.write(content)
        except (FileExistsError, NotADirectoryError):
            raise Refused(f"it holds {str(path)!r} twice") from None
        # Read-only: an editor that opens a file from a traceback should not change a cached release.
        target.chmod(0o444)
