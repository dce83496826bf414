"""The source tree of a release. Its wheel is downloaded once, checked at each use, and its sources are unpacked."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from packaging.version import Version

from harness.common.errors import UsageError
from harness.common.reading import parse_json, read_file
from harness.subjects.sources.cache import complete, discard, make_entry
from harness.subjects.sources.index import IndexUnreachable, download_wheel
from harness.subjects.sources.tree import LANDMARK, Refused, Tree
from harness.subjects.sources.unpack import unpack_wheel

RECORDED: Final = "wheel.json"
"""The file beside the wheel that has the wheel's file name, and its sha256 at download."""


def release_tree(package: str, version: Version, cache: Path) -> Tree:
    """Return the sources of the release ``version`` of ``package``, from ``cache`` or the package index.

    A wheel whose sha256 is no longer the one recorded at download is downloaded again.

    Raises UsageError for an unknown release, an index that can't be reached, a wheel that is refused, or a
    cache that can't be used.
    """
    subject = f"{package}=={version}"
    place = cache / "wheels" / f"{package}-{version}"
    damaged = complete(place) and not _sound(place)
    try:
        kept = make_entry(place, lambda making: _download(package, version, making), _sound)
    except IndexUnreachable as error:
        if damaged:
            raise IndexUnreachable(
                f"the wheel of {subject} in the cache ({place}) is damaged, and can't be downloaded again: {error}"
            ) from None
        raise
    recorded = _recorded(kept)
    sha256 = str(recorded["sha256"])
    wheel = kept / str(recorded["file"])
    try:
        entry = make_entry(cache / "releases" / sha256, lambda making: _fill(wheel, making / "tree"))
    except Refused as error:
        # If it stayed in the cache, it would be refused for ever, even once the index has a correct one.
        discard(kept)
        raise UsageError(
            f"the wheel {wheel.name} of {subject} is refused: {error}; check where pip gets it from"
        ) from None
    return Tree(root=entry / "tree", label=subject, identity=f"sha256:{sha256}")


def _download(package: str, version: Version, into: Path) -> None:
    wheel = download_wheel(package, version, into)
    recorded = {"file": wheel.name, "sha256": _sha256(wheel)}
    (into / RECORDED).write_text(json.dumps(recorded, sort_keys=True) + "\n", encoding="utf-8")


def _fill(wheel: Path, into: Path) -> None:
    unpack_wheel(wheel, into)
    if not (into / LANDMARK).is_file():
        raise Refused(f"it holds no {LANDMARK}")


def _sound(place: Path) -> bool:
    """Return whether the entry is finished, and its wheel still has the sha256 that it had at download."""
    if not complete(place):
        return False
    try:
        recorded = _recorded(place)
        return _sha256(place / str(recorded["file"])) == str(recorded["sha256"])
    except (OSError, ValueError, KeyError, TypeError):  # of JSON, too: its error is a ValueError
        return False


def _recorded(place: Path) -> dict[str, Any]:
    recorded: dict[str, Any] = parse_json(read_file(place / RECORDED))
    return recorded


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
