"""Lines of sources: those around a place, and nothing that lies outside the tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.engine.excerpts import Excerpts, Place, check_key, read_excerpts
from harness.world.case import Refusal

LINES = [f"line {number}" for number in range(1, 21)]


def refusal(origin: str, message: str = "no") -> Refusal:
    return Refusal(type="ValueError", message=message, origin=origin)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg/a.py").write_text("\n".join(LINES) + "\n    async def check_it(self):\n        raise ValueError\n")
    (tmp_path / "secret.py").write_text("password\n")
    (folder / "pkg/link.py").symlink_to(tmp_path / "secret.py")
    return folder


def read(root: Path, *near: Place, lines: tuple[Place, ...] = (), refusals: tuple[Refusal, ...] = ()) -> Excerpts:
    return read_excerpts(root, near=near, lines=lines, refusals=refusals, files=["pkg/a.py"])


def test_lines_around_a_place_are_kept_with_their_numbers(root: Path) -> None:
    excerpts = read(root, Place("pkg/a.py", 3), lines=(Place("pkg/a.py", 15),))
    assert list(excerpts.lines["pkg/a.py"]) == [1, 2, 3, 4, 5, 6, 7, 15]
    assert excerpts.around("pkg/a.py", 3, context=1) == [(2, "line 2"), (3, "line 3"), (4, "line 4")]
    assert excerpts.line("pkg/a.py", 15) == "line 15"
    assert excerpts.line("pkg/a.py", 12) == ""


def test_a_function_that_refused_is_found_where_it_starts(root: Path) -> None:
    excerpts = read(root, refusals=(refusal("check_it"), refusal("nowhere")))
    assert excerpts.functions == {"check_it": Place("pkg/a.py", 21)}
    assert "raise ValueError" in excerpts.line("pkg/a.py", 22)


CHECKS = """class Record:
    def check(self):
        if self.size < 1:
            raise ValueError(
                f"the size {self.size} is too small")
        assert self.size != 7, "the size " + repr(self.size) + " is not liked"
        if self.size > 10:
            raise too_large(self)

    def alone(self):
        assert self.size
"""


@pytest.mark.parametrize(
    ("origin", "message", "line"),
    [
        ("check", "the size 0 is too small", 4),
        ("check", "the size 7 is not liked", 6),
        ("check", "something else", None),
        ("check", "", None),
        ("alone", "", 11),
        ("alone", "anything", 11),
    ],
)
def test_a_check_is_found_by_its_words(root: Path, origin: str, message: str, line: int | None) -> None:
    (root / "pkg/a.py").write_text(CHECKS)
    check = refusal(origin, message)
    found = read(root, refusals=(check,))
    assert found.checks == ({check_key(check): Place("pkg/a.py", line)} if line else {})
    assert not line or found.line("pkg/a.py", line)


@pytest.mark.parametrize("source", ["def check(:\n    raise X", "def check():\n    raise '\\d'\n\0", "(" * 5000])
def test_a_source_that_is_no_python_of_ours_has_no_checks(root: Path, source: str) -> None:
    (root / "pkg/a.py").write_text(source)
    assert read(root, refusals=(refusal("check"),)).checks == {}


@pytest.mark.parametrize("file", ["../secret.py", "pkg/link.py", "pkg", "no/such.py", "pkg/\0.py", "/etc/hostname"])
def test_what_is_not_a_file_of_the_tree_is_not_read(root: Path, file: str) -> None:
    excerpts = read(root, Place(file, 1))
    assert excerpts.around(file, 1) == []


def test_places_that_are_none_of_the_file_are_left_out(root: Path) -> None:
    assert read(root, Place("pkg/a.py", 900), Place("pkg/a.py", -3)).around("pkg/a.py", 900) == []


def test_a_long_line_is_cut(root: Path) -> None:
    (root / "pkg/a.py").write_text("x" * 10_000_000)
    assert len(read(root, Place("pkg/a.py", 1)).line("pkg/a.py", 1)) < 1000
