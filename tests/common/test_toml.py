"""What keeps a user's TOML from being read is one sentence that names the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.common.errors import UsageError
from harness.common.toml import parse_toml, read_toml


def test_what_a_file_holds(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('[a]\nb = "ü"\n', encoding="utf-8")
    assert read_toml(tmp_path / "a.toml", "the file a") == {"a": {"b": "ü"}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a = ", "the file a is not valid TOML: "),
        (b'a = "\xff"', "the file a is not valid TOML: "),
        (b"a = " + b"[" * 100_000, "the file a is nested too deeply to be read"),
        (b"a = " + b"9" * 5000, "the file a is not valid TOML: "),
        (
            b"b = 1\n" + b"a." * 100_000 + b"b = 1",
            "the file a is not valid TOML: the key in line 2 has more than 64 parts",
        ),
        (b"[" + b"a ." * 100_000 + b"b]", "the file a is not valid TOML: the key in line 1 has more than 64 parts"),
        (b"a = '" + b"a" * (5 << 20) + b"'", "the file a: this is larger than 4 MiB"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        read_toml(path, "the file a")
    assert str(caught.value).startswith(message)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^the file a: No such file"):
        read_toml(tmp_path / "a.toml", "the file a")
    with pytest.raises(UsageError, match=r"^the text is not valid TOML"):
        parse_toml("[", "the text")
