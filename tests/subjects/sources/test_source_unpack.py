from __future__ import annotations

import stat
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.subjects.sources import tree, unpack
from harness.subjects.sources.tree import Refused, safe_member
from harness.subjects.sources.unpack import unpack_wheel

MakeWheel = Callable[..., Path]
SOURCES = {
    "sglang/__init__.py": b"",
    "sglang/srt/server_args.py": b"class ServerArgs:\n    page_size = 1\n",
}


def with_mode(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


def test_only_sources_and_the_record(make_wheel: MakeWheel, tmp_path: Path) -> None:
    into = tmp_path / "out"
    unpack_wheel(make_wheel(files={**SOURCES, "tools/a.py": b"a = 1\n", "sglang/data.json": b"{}"}), into)
    files = sorted(str(path.relative_to(into)) for path in into.rglob("*") if path.is_file())
    assert files == [
        "sglang-0.5.14.dist-info/METADATA",
        "sglang-0.5.14.dist-info/RECORD",
        "sglang/__init__.py",
        "sglang/srt/server_args.py",
        "tools/a.py",
    ]
    mode = (into / "sglang/srt/server_args.py").stat().st_mode
    assert not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)


@pytest.mark.parametrize(
    "name",
    [
        "/etc/evil.py",
        "../evil.py",
        "sglang/../../evil.py",
        "sglang\\..\\evil.py",
        "C:/evil.py",
        "a//b.py",
        "./a.py",
        "",
    ],
)
def test_unsafe_paths(make_wheel: MakeWheel, tmp_path: Path, name: str) -> None:
    with pytest.raises(Refused, match="unsafe path"):
        safe_member(name)
    if name:
        with pytest.raises(Refused, match="unsafe path"):
            unpack_wheel(make_wheel(extra=[(zipfile.ZipInfo(name), b"evil = 1\n")]), tmp_path / "out")
    assert not list(tmp_path.rglob("evil.py"))


@pytest.mark.parametrize("mode", [stat.S_IFLNK | 0o777, stat.S_IFIFO | 0o644, stat.S_IFCHR | 0o644])
def test_links_and_devices(make_wheel: MakeWheel, tmp_path: Path, mode: int) -> None:
    wheel = make_wheel(extra=[(with_mode("sglang/link.py", mode), b"/etc/passwd")])
    with pytest.raises(Refused, match="a link or a device"):
        unpack_wheel(wheel, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_member_twice(make_wheel: MakeWheel, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wheel = make_wheel(extra=[("sglang/__init__.py", b"evil = 1\n")])
    with pytest.raises(Refused, match=r"'sglang/__init__\.py' twice"):
        unpack_wheel(wheel, tmp_path / "out")


def test_file_where_a_folder_is(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheel = make_wheel(files={"sglang.py": b"", "sglang.py/a.py": b""})
    with pytest.raises(Refused, match="twice"):
        unpack_wheel(wheel, tmp_path / "out")


def test_file_of_too_many_bytes(make_wheel: MakeWheel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = make_wheel(files={**SOURCES, "sglang/bomb.py": b"#" * 5_000_000})
    assert wheel.stat().st_size < 20_000
    monkeypatch.setattr(unpack, "_MAX_FILE", 4_000_000)
    with pytest.raises(Refused, match=r"'sglang/bomb\.py' of more than"):
        unpack_wheel(wheel, tmp_path / "out")


def test_too_many_bytes_in_all(make_wheel: MakeWheel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = make_wheel(files={f"sglang/{i}.py": b"#" * 1_000_000 for i in range(4)})
    monkeypatch.setattr(tree, "MAX_BYTES", 3_000_000)
    with pytest.raises(Refused, match="unpacks to more than"):
        unpack_wheel(wheel, tmp_path / "out")


def test_too_many_files(make_wheel: MakeWheel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = make_wheel(files={f"sglang/{i}.py": b"" for i in range(30)})
    monkeypatch.setattr(unpack, "MAX_FILES", 20)
    with pytest.raises(Refused, match="more than 20 files"):
        unpack_wheel(wheel, tmp_path / "out")


def test_size_that_lies(make_wheel: MakeWheel, tmp_path: Path) -> None:
    content = b"#" * 100_000
    wheel = make_wheel(files={"sglang/big.py": content})
    size = len(content).to_bytes(4, "little")
    wheel.write_bytes(wheel.read_bytes().replace(size, (10).to_bytes(4, "little")))
    with pytest.raises(Refused):
        unpack_wheel(wheel, tmp_path / "out")


def test_file_that_differs_from_the_record(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheel = make_wheel(record=dict.fromkeys(SOURCES, b"other") | {"sglang/srt/__init__.py": b""})
    with pytest.raises(Refused, match=r"(differs from|has no sha256)"):
        unpack_wheel(wheel, tmp_path / "out")


def test_file_that_the_record_lacks(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheel = make_wheel(extra=[("sglang/added.py", b"evil = 1\n")])
    with pytest.raises(Refused, match=r"no sha256 for 'sglang/added\.py'"):
        unpack_wheel(wheel, tmp_path / "out")


def test_file_that_only_the_record_has(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheel = make_wheel(record={**SOURCES, "sglang/gone.py": b""})
    with pytest.raises(Refused, match=r"lists 'sglang/gone\.py'"):
        unpack_wheel(wheel, tmp_path / "out")


def test_second_record(make_wheel: MakeWheel, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="2 RECORD files"):
        unpack_wheel(make_wheel(extra=[("other.dist-info/RECORD", b"")]), tmp_path / "out")


@pytest.mark.parametrize("keep", [0, 10, 400])
def test_cut_off_wheel(make_wheel: MakeWheel, tmp_path: Path, keep: int) -> None:
    wheel = make_wheel()
    wheel.write_bytes(wheel.read_bytes()[:keep])
    with pytest.raises(Refused, match="no whole wheel"):
        unpack_wheel(wheel, tmp_path / "out")


def test_flipped_bytes_never_pass(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheel = make_wheel()
    good = wheel.read_bytes()
    expected = {"sglang/srt/server_args.py": SOURCES["sglang/srt/server_args.py"]}
    for at in range(0, len(good), 2):
        wheel.write_bytes(good[:at] + bytes([good[at] ^ 0x41]) + good[at + 1 :])
        into = tmp_path / f"out{at}"
        try:
            unpack_wheel(wheel, into)
        except Refused:
            continue
        for path, content in expected.items():
            assert (into / path).read_bytes() == content
