"""A tree is written and copied whole or not at all."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from codemods.reading.files import copied, write
from harness.common.errors import UsageError


def listing(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_are_written_and_keep_their_permissions(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"1")
    (tmp_path / "a.py").chmod(0o640)
    write(tmp_path, {"a.py": b"2", "b/c.py": b"3"})
    assert listing(tmp_path) == {"a.py": b"2", "b/c.py": b"3"}
    assert (tmp_path / "a.py").stat().st_mode & 0o7777 == 0o640


def test_when_one_file_cannot_be_written_none_is(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"1")
    (tmp_path / "file").write_bytes(b"")
    before = listing(tmp_path)
    with pytest.raises(UsageError, match="cannot be written: "):
        write(tmp_path, {"a.py": b"2", "file/b.py": b"3"})
    with pytest.raises(UsageError, match="leads out of"):
        write(tmp_path, {"a.py": b"2", "../z.py": b"3"})
    assert listing(tmp_path) == before


def test_what_cannot_be_copied_leaves_no_folder(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.py").write_bytes(b"1")
    os.mkfifo(tmp_path / "tree" / "pipe.py")
    with pytest.raises(UsageError, match=r"cannot be copied to .* is a named pipe"):
        copied(tmp_path / "tree", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_disk_that_is_full_leaves_no_migrated_folder(tmp_path: Path) -> None:
    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))

    # -B: under the limit Python would leave modules of ours half-written in its cache, for every later process.
    words = [
        sys.executable,
        "-B",
        "-m",
        "harness.cli",
        "migrate",
        "dtype",
        "--tree",
        "legacy",
        "--out",
        tmp_path / "new",
    ]
    done = subprocess.run(words, capture_output=True, text=True, preexec_fn=full)
    assert done.returncode == 2
    assert done.stderr.startswith("stackproof: ") and done.stderr.count("\n") == 1
    assert "File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []
