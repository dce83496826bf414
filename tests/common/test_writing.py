from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from world_strategies import refused

from harness.common.writing import expanded, folder_atomically, write_atomically


def listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_home_of_nobody_is_left_as_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert expanded("~/x") == Path("/home/me/x")
    assert expanded("~no-such-user/x") == Path("~no-such-user/x")


@pytest.mark.parametrize("data", [b"a\nb\n", [b"a\n", b"b\n"], (part for part in (b"a\n", b"", b"b\n"))])
def test_the_file_holds_the_data_and_stands_alone(tmp_path: Path, data: object) -> None:
    write_atomically(tmp_path / "out.jsonl", data)  # type: ignore[arg-type]
    assert listing(tmp_path) == {"out.jsonl": b"a\nb\n"}


def test_an_old_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_atomically(path, b"new")
    assert listing(tmp_path) == {"out.jsonl": b"new"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").write_bytes(b"")
    write_atomically(tmp_path / "ours", b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_name_of_the_greatest_length(tmp_path: Path) -> None:
    write_atomically(tmp_path / ("x" * 255), b"a")
    assert listing(tmp_path) == {"x" * 255: b"a"}


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "out")
    write_atomically(tmp_path / "link", b"a")
    assert (tmp_path / "link").is_symlink()
    assert listing(tmp_path / "real") == {"out": b"a"}


def test_a_device_is_written_and_stays_a_device() -> None:
    write_atomically(Path(os.devnull), b"a")
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("missing/out", ["the folder", "missing' does not exist"]),
        ("folder", ["it is a folder"]),
        ("file/out", ["cannot write"]),
        ("nu\0ll", ["cannot write"]),
        ("x" * 300, ["cannot write", "too long"]),
    ],
)
def test_an_impossible_path_is_refused(tmp_path: Path, name: str, parts: list[str]) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"old")
    sentence = refused(write_atomically, tmp_path / name, b"a")
    assert name[:40].encode("unicode_escape").decode() in sentence
    for part in parts:
        assert part in sentence
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
    assert list((tmp_path / "folder").iterdir()) == []
    assert (tmp_path / "file").read_bytes() == b"old"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_closed_folder_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        assert "no permission" in refused(write_atomically, tmp_path / "out", b"a")
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.parametrize("failing", ["open", "replace"])
def test_a_refusing_system_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "out").write_bytes(b"old")
    monkeypatch.setattr(*{"open": (os, "open"), "replace": (Path, "replace")}[failing], refuse)
    assert "no permission" in refused(write_atomically, tmp_path / "out", b"new")
    assert listing(tmp_path) == {"out": b"old"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("size", [1, 10**6])
def test_a_full_disk_is_refused(size: int) -> None:
    assert "No space left" in refused(write_atomically, Path("/dev/full"), b"a" * size)


@pytest.mark.parametrize("error", [RuntimeError("theirs"), OSError("theirs"), KeyboardInterrupt("theirs")])
def test_the_data_that_ends_early_leaves_nothing(tmp_path: Path, error: BaseException) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"half"
        raise error

    (tmp_path / "out").write_bytes(b"old")
    with pytest.raises(type(error), match="theirs"):
        write_atomically(tmp_path / "out", chunks())
    assert listing(tmp_path) == {"out": b"old"}


def test_a_pipe_that_nobody_reads_is_no_wait(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert "nobody reads from it" in refused(lambda: write_atomically(path, b"data"))
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(path, b"data")
    assert os.read(reader, 9) == b"data"
    os.close(reader)
    assert path.is_fifo()


def test_a_folder_is_whole_or_not_there(tmp_path: Path) -> None:
    with folder_atomically(tmp_path / "new") as making:
        making.mkdir()
        (making / "a").write_bytes(b"1")
        assert not (tmp_path / "new").exists()
    assert listing(tmp_path / "new") == {"a": b"1"}

    def failing() -> None:
        with folder_atomically(tmp_path / "other") as making:
            making.mkdir()
            raise OSError(28, "No space left on device")

    assert refused(failing) == f"cannot write '{tmp_path / 'other'}': No space left on device"
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
