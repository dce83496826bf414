"""Unpacks the Python sources of a wheel that may be damaged or hostile."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import lzma
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Final

from harness.subjects.sources.tree import MAX_FILES, Refused, TreeWriter, safe_member

_MAX_FILE: Final = 32 * 1024 * 1024
_ENCRYPTED: Final = 0x1
# What zipfile and its decompressors raise for a damaged archive.
_BROKEN: Final = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(NotImplementedError, RuntimeError, ValueError, OverflowError),
)


def unpack_wheel(wheel: Path, into: Path) -> None:
    """Write the ``.py`` files of ``wheel``, its RECORD and its METADATA below the folder ``into``.

    Each file is checked against the sha256 that RECORD has for it.

    Raises Refused, possibly after files have been written, for an archive that is damaged, leads outside
    ``into``, is larger than a source tree can be, or differs from its RECORD; OSError if it can't be written.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            _unpack(archive, TreeWriter(into))
    except _BROKEN as error:
        raise Refused(f"it is no whole wheel ({error})") from None


def _unpack(archive: zipfile.ZipFile, writer: TreeWriter) -> None:
    members = _members(archive)
    record_path = _record_path(members)
    record = _read(archive, members[record_path], writer)
    hashes = _hashes(record)
    writer.write(record_path, record)
    metadata = record_path.parent / "METADATA"
    missing = [str(path) for path in sorted(hashes) if path.suffix == ".py" and path not in members]
    if missing:
        raise Refused(f"its RECORD lists {missing[0]!r}, which it does not hold")
    for path, member in members.items():
        if path.suffix != ".py" and path != metadata:
            continue
        if path not in hashes:
            raise Refused(f"its RECORD has no sha256 for {str(path)!r}")
        content = _read(archive, member, writer)
        if _digest(content) != hashes[path]:
            raise Refused(f"{str(path)!r} differs from its RECORD")
        writer.write(path, content)


def _members(archive: zipfile.ZipFile) -> dict[PurePosixPath, zipfile.ZipInfo]:
    """Return the files of the archive by path; refuse the archive for any member that no wheel has."""
    infos = archive.infolist()
    if len(infos) > MAX_FILES:
        raise Refused(f"it holds more than {MAX_FILES} files")
    members: dict[PurePosixPath, zipfile.ZipInfo] = {}
    for info in infos:
        path = safe_member(info.filename)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise Refused(f"it holds {info.filename!r}, which is a link or a device")
        if info.flag_bits & _ENCRYPTED:
            raise Refused(f"it holds {info.filename!r}, which is encrypted")
        if info.is_dir():
            continue
        if path in members:
            raise Refused(f"it holds {info.filename!r} twice")
        members[path] = info
    return members


def _record_path(members: dict[PurePosixPath, zipfile.ZipInfo]) -> PurePosixPath:
    records = [
        path
        for path in members
        if len(path.parts) == 2 and path.parent.suffix == ".dist-info" and path.name == "RECORD"
    ]
    if len(records) != 1:
        raise Refused(f"it holds {len(records)} RECORD files where a wheel has one")
    return records[0]


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo, writer: TreeWriter) -> bytes:
    if member.file_size > _MAX_FILE:
        raise Refused(f"it holds {member.filename!r} of more than {_MAX_FILE // 1024 // 1024} MiB")
    writer.room(member.file_size)
    try:
        with archive.open(member) as stream:
            # The archive may claim a size that is too small. One byte more shows that, without unpacking the rest.
            content = stream.read(member.file_size + 1)
    except OSError as error:  # as for an offset that the archive made up
        raise Refused(f"it holds {member.filename!r}, which can't be read ({error.strerror or error})") from None
    if len(content) != member.file_size:
        raise Refused(f"it holds {member.filename!r} with a wrong size")
    return content


def _hashes(record: bytes) -> dict[PurePosixPath, str]:
    """Return the sha256, in RECORD's notation, of each file for which RECORD has one."""
    hashes: dict[PurePosixPath, str] = {}
    try:
        for row in csv.reader(io.StringIO(record.decode("utf-8"), newline="")):
            if len(row) == 3 and row[1].startswith("sha256="):
                hashes[safe_member(row[0])] = row[1].removeprefix("sha256=")
    except csv.Error as error:
        raise Refused(f"its RECORD can't be read ({error})") from None
    return hashes


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
