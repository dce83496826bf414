"""Lines of sources: those around a place, and nothing that lies outside the tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.engine.result.excerpts import Excerpts, read_excerpts
from harness.world.chain import Place

LINES = [f"line {number}" for number in range(1, 21)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg/a.py").write_text("\n".join(LINES) + "\n")
    (tmp_path / "secret.py").write_text("password\n")
    (folder / "pkg/link.py").symlink_to(tmp_path / "secret.py")
    return folder


def at(file: str, line: int) -> Place:
    return Place(source="f", file=file, line=line)


def read(root: Path, *near: Place, lines: tuple[Place, ...] = ()) -> Excerpts:
    return read_excerpts(root, near=near, lines=lines)


def test_lines_around_a_place_are_kept_with_their_numbers(root: Path) -> None:
    excerpts = read(root, at("pkg/a.py", 3), lines=(at("pkg/a.py", 15),))
    assert list(excerpts.lines["pkg/a.py"]) == [1, 2, 3, 4, 5, 6, 7, 15]
    assert excerpts.around("pkg/a.py", 3, context=1) == [(2, "line 2"), (3, "line 3"), (4, "line 4")]
    assert excerpts.line("pkg/a.py", 15) == "line 15"
    assert excerpts.line("pkg/a.py", 12) == ""


@pytest.mark.parametrize("file", ["../secret.py", "pkg/link.py", "pkg", "no/such.py", "pkg/\0.py", "/etc/hostname"])
def test_what_is_not_a_file_of_the_tree_is_not_read(root: Path, file: str) -> None:
    excerpts = read(root, at(file, 1))
    assert excerpts.around(file, 1) == []


def test_places_that_are_none_of_the_file_are_left_out(root: Path) -> None:
    assert read(root, at("pkg/a.py", 900), at("pkg/a.py", -3)).around("pkg/a.py", 900) == []


def test_a_long_line_is_cut(root: Path) -> None:
    (root / "pkg/a.py").write_text("x" * 10_000_000)
    assert len(read(root, at("pkg/a.py", 1)).line("pkg/a.py", 1)) < 1000
