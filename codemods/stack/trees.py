"""Finds the tree that a command names (a release, a package of this repository, a folder), and its record."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from codemods.reading.files import copied
from codemods.stack.plan import default_plan
from harness.common.errors import UsageError
from harness.common.writing import expanded
from harness.formats.subjectname import KNOWN_PACKAGES, OWN_PACKAGES, SLICE_SUFFIX, SubjectName, parse_subject
from harness.subjects.sources import locate
from harness.subjects.sources.tree import USUAL_PLACES

_PORT: Final = OWN_PACKAGES[0]


@dataclass(frozen=True)
class TreePlace:
    """The folder ``root`` that holds a record's package, and the record as ``package.module:Class``.

    If ``package`` is not empty, only that folder in ``root`` is the tree; what else is in ``root`` is not part of it.
    """

    root: Path
    record: str
    package: str = ""


def subject_of(text: str, cwd: Path) -> SubjectName:
    """Return the subject that ``text`` names; here the path of a folder needs no ``dir:`` before it.

    A folder that holds the port, and not sglang, means the port in it. Raises UsageError.
    """
    body, mark, suffix = text.rpartition("#")
    if mark and suffix in OWN_PACKAGES:
        plain = body
    else:
        plain, suffix = text, ""
    path = plain.removeprefix("dir:")
    folder = cwd / expanded(path)
    if plain in OWN_PACKAGES or not (plain.startswith("dir:") or folder.is_dir()):
        return parse_subject(text)
    if not suffix and not _holds(folder, KNOWN_PACKAGES[0]) and _holds(folder, _PORT):
        suffix = _PORT
    # In a path, a "#" would begin a suffix unless a "/" follows it.
    closed = path if suffix or "#" not in path else f"{path.rstrip('/')}/"
    return parse_subject(f"dir:{closed}{'#' + suffix if suffix else ''}")


def find_tree(text: str, cwd: Path, record: str | None = None) -> TreePlace:
    """Return the tree that ``text`` names: a release, a package of this repository, ``dir:PATH`` or a folder.

    Without ``record``, the record is that of the plan that comes with stackproof for the package. Raises UsageError
    when there is no such tree.
    """
    if record is not None:
        package = record.partition(":")[0].partition(".")[0]
        path = expanded(text.removeprefix("dir:"))
        folder = cwd / path
        if folder.is_dir() and text not in OWN_PACKAGES:
            for place in USUAL_PLACES:
                if _is_package(folder / place, package):
                    return TreePlace(folder / place, record)
            raise UsageError(f"the folder {path} holds no package {package!r}, where --record {record} should be")
    name = subject_of(text, cwd)
    if name.kind != "git" and name.package in (KNOWN_PACKAGES[0], _PORT) and not text.endswith(f"#{SLICE_SUFFIX}"):
        only = name.package if name.kind == "package" else ""
        return TreePlace(locate(name, cwd=cwd).root, record or default_plan(name.package).record, only)
    raise UsageError(f"the tree {text!r} is none that codemods work on: give {_PORT}, a release or a folder")


def copy_tree(root: Path, package: str, to: Path) -> None:
    """Copy the folder ``root``, or if ``package`` is given only that folder in it, to the new folder ``to``.

    Files of a cached release are read-only; those of the copy can be written. Raises UsageError when
    ``to`` is there already.
    """
    if package:
        to.mkdir()
        copied(root / package, to / package)
    else:
        copied(root, to)
    for path in to.rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.chmod(path.stat().st_mode | stat.S_IWUSR)


def _holds(folder: Path, package: str) -> bool:
    return any(_is_package(folder / place, package) for place in USUAL_PLACES)


def _is_package(folder: Path, package: str) -> bool:
    return (folder / package).is_dir() or (folder / f"{package}.py").is_file()
