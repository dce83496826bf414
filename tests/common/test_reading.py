"""What is read of a file that somebody else wrote: nothing waits without end, nothing fills the memory."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import msgspec
import pytest

from harness.common import reading
from harness.common.reading import parse_json, read_file


def test_a_file_and_a_link_to_it(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\ntwo")
    (tmp_path / "b").symlink_to("a")
    assert read_file(tmp_path / "a") == read_file(tmp_path / "b") == b"one\ntwo"
    (tmp_path / "empty").touch()
    assert read_file(tmp_path / "empty") == b""


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"x" * 3_000_000,))
    writer.start()
    assert read_file(path) == b"x" * 3_000_000
    writer.join()


def test_an_open_pipe_that_has_nothing_yet_is_waited_for() -> None:
    taken, given = os.pipe()
    timer = threading.Timer(0.2, lambda: (os.write(given, b"late"), os.close(given)))
    timer.start()
    assert read_file(Path(f"/dev/fd/{taken}")) == b"late"
    timer.join()
    os.close(taken)


def test_what_has_no_end_or_no_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_PATIENCE", 0.05)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    place = socket.socket(socket.AF_UNIX)
    folder = os.open(tmp_path, os.O_RDONLY)
    place.bind(f"/proc/self/fd/{folder}/socket")  # a socket's path is short
    os.close(folder)
    for name, said in {
        "pipe": "nobody writes into it",
        "zero": "this is a device",
        "loop": "symbolic links",
        "sparse": "larger than 512 MiB",
        "socket": "No such device",
        ".": "Is a directory",
        "nul\0": "cannot be a path",
        "\udc00\ud800": "cannot be a path",
        "a" * 300: "name too long",
    }.items():
        with pytest.raises(OSError, match=said) as caught:
            read_file(tmp_path / name)
        assert said in str(caught.value.strerror)
    place.close()


def test_a_limit_holds_for_a_pipe_as_well(tmp_path: Path) -> None:
    taken, given = os.pipe()
    os.write(given, b"x" * 20)
    os.close(given)
    with pytest.raises(OSError, match="larger than"):
        read_file(Path(f"/dev/fd/{taken}"), largest=10)
    os.close(taken)


@pytest.mark.parametrize(
    "text", [b"", b"{", b"\xff", b'{"a": "\xff"}', b"[" * 1_000_000, b'{"a":' * 100_000, b"1e999x", b'"\\ud800"']
)
def test_what_is_no_json_has_one_error(text: bytes) -> None:
    for kind in (object, dict, list[int]):
        with pytest.raises(msgspec.DecodeError):
            parse_json(text, kind)
